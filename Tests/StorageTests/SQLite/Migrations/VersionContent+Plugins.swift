import PushModel
import Support
import Testing

@testable import Storage

// Removed devices and held removals, values of plugins, and the audit log.
extension VersionContent {
    func expectRemovals(in store: any HubStore) async throws {
        let pruned = try version >= .pruned ? prunedDevices : []
        let restorable = Array(pruned.filter { !$0.isRestored }.reversed())
        #expect(try await store.pruned(PrunedFilter(), below: nil, limit: 9) == restorable)
        #expect(try await store.countUnreportedPruned() == pruned.count)
        #expect(try await store.unreportedPruned(limit: 9) == pruned)
        #expect(try await store.heldRemovals(HeldRemovalFilter(), below: nil, limit: 9) == heldRemovals)
    }

    /// In the order of their numbers.
    private var prunedDevices: [PrunedDevice] {
        get throws {
            let template = try RegistrationTemplate(
                body: #"{"aps":{"alert":"$(m)"}}"#, headers: [PushHeader("apns-push-type", "alert")], priority: "5", platform: .apns)
            let phone = Registration(
                id: Samples.id(13), etag: 2, expiration: .distantFuture, updatedAt: Self.at(6),
                description: RegistrationDescription(
                    handle: .phone(13), tags: try Self.tags("News"), template: template, pushVariables: ["a": "ü"]))
            let restored = Registration(
                id: Samples.id(6), etag: 1, expiration: .distantFuture, updatedAt: Self.at(3),
                description: RegistrationDescription(handle: Self.baidu, tags: []))
            return [
                PrunedDevice(
                    number: 2, .registration(phone), handle: .phone(13), reason: "Unregistered", notificationID: Self.id(1),
                    time: Self.at(22)),
                PrunedDevice(
                    number: 3, .installation(id: "ana-9", userID: "Ana", tags: try Self.tags("News", "größe")), handle: .phone(9),
                    reason: "Unregistered", notificationID: Self.id(1), time: Self.at(23)),
                PrunedDevice(
                    number: 4, isRestored: true, .registration(restored), handle: Self.baidu, reason: "Unregistered",
                    notificationID: Self.id(1), time: Self.at(24)),
            ]
        }
    }

    /// The latest first.
    private var heldRemovals: [HeldRemoval] {
        guard version >= .heldRemovals else { return [] }
        return [
            HeldRemoval(
                number: 3, handle: .subscription, reason: "410", notificationID: Self.id(9), time: Self.at(milliseconds: 91_500),
                validBefore: Self.at(milliseconds: 90_500)),
            HeldRemoval(
                number: 1, handle: .phone(1), reason: "Unregistered", notificationID: Self.id(9), time: Self.at(91),
                validBefore: Self.at(90)),
        ]
    }

    // MARK: - Values of plugins

    private static let city = #"{"city":"Lisboa","degrees":17.5}"#

    func expectPlugins(in storage: SQLiteStorage) async throws {
        let space = storage.keyValues.space("weather")
        guard version >= .plugins else {
            #expect(try await storage.keyValues.names() == [])
            #expect(try await space.usage() == KeyValueUsage())
            return
        }
        #expect(try await storage.keyValues.names() == ["weather"])
        #expect(try await space.keys(prefix: "", after: nil, limit: 9, now: HubBench.startTime) == ["last", "visits"])
        let last = KeyValueEntry(value: ["city": "Lisboa", "degrees": 17.5], version: 5, expires: nil)
        #expect(try await space.value("last", now: HubBench.startTime) == last)
        let visits = KeyValueEntry(value: 41, version: Self.at(3).milliseconds, expires: Self.at(86_400))
        #expect(try await space.value("visits", now: HubBench.startTime) == visits)
        // Keys, values as JSON, and two answers about slots.
        let bytes = "lastvisitsana".utf8.count + Self.city.utf8.count + "41".utf8.count + 32
        #expect(try await space.usage() == KeyValueUsage(entries: 3, bytes: bytes))
        // Both answers are recorded, so asking again changes nothing.
        let later = Self.at(2)
        #expect(try await space.take(["ana"], token: "token-1", limit: 1, within: .seconds(3600), now: later) == [true])
        #expect(try await space.take(["ana"], token: "token-2", limit: 1, within: .seconds(3600), now: later) == [false])
        #expect(try await space.usage() == KeyValueUsage(entries: 3, bytes: bytes))
    }

    // MARK: - Audit log

    func expectAuditTrail(in storage: SQLiteStorage) async throws {
        let entries = try await storage.auditTrail.entries(after: 0, limit: 9, AuditFilter())
        #expect(entries.map(\.record) == auditRecords)
        #expect(entries.map(\.sequence) == auditRecords.indices.map { Int64($0) + 1 })
        let head = entries.last.map { AuditHead(sequence: $0.sequence, hash: $0.hash) } ?? .start
        #expect(try await storage.auditTrail.verify() == .intact(head))
    }

    private var auditRecords: [AuditRecord] {
        guard version >= .plugins else { return [] }
        var records = [
            AuditRecord(
                time: Self.at(200), actor: "owner", action: "plugin.install", subject: "weather",
                details: ["version": "1.0", "digest": "7bd5f4"]),
            AuditRecord(
                time: Self.at(201), actor: "key:RootManageSharedAccessKey", action: "plugin.enable", subject: #"größe "x""#,
                outcome: .refused),
        ]
        guard version >= .approvals else { return records }
        records.append(
            AuditRecord(
                time: Self.at(202), actor: "key:hub/sender", action: "approval.request", subject: "a-1",
                details: ["hub": "hub", "words": "a-1: 1,203 devices"]))
        return records
    }
}
