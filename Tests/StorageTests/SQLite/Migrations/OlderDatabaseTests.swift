import GRDB
import PushModel
import Support
import Testing

@testable import Storage

/// Every version reads the data of earlier ones.
@Suite struct OlderDatabaseTests {
    /// The tables of a file with their row counts, without those of SQLite and GRDB.
    private static func counts(_ path: String) async throws -> [String: Int] {
        let queue = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
        defer { try? queue.close() }
        return try await queue.read { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%sqlite%' AND name NOT LIKE 'grdb%'")
            return try tables.reduce(into: [:]) { $0[$1] = try Int.fetchOne(database, sql: "SELECT count(*) FROM \($1)") }
        }
    }

    private static func make(_ path: String) async throws {
        let old = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: false))
        try await old.write { try $0.execute(sql: OlderDatabase.sendsToPlans) }
        try old.close()
    }

    @Test func `A sealed copy has the full content of the database`() async throws {
        let folder = try Folder()
        try await Self.make(folder.file("hub.db"))
        let original = try folder.bytes(of: "hub.db")
        try await SQLiteStorage.copy(folder.file("hub.db"), to: folder.file("copy.db"), sealing: .test)
        #expect(try folder.bytes(of: "hub.db") == original)
        let storage = try await SQLiteStorage.open(folder.file("copy.db"))
        try await expectHubs(of: storage)
        try await expectNotifications(of: storage)
        try await expectTheRest(of: storage)
        try await storage.close()
    }

    @Test func `A database of the version with plans is opened with its content unchanged`() async throws {
        let folder = try Folder()
        let path = folder.file("hub.db")
        try await Self.make(path)
        let before = try await Self.counts(path)
        #expect(before["registration"] == 7 && before["audit_entry"] == 8)
        // It has no mark, but is still recognized as a PushHost database.
        #expect(try await SQLiteStorage.examine(path, DatabaseMark(isUsed: true)) == .present(nil))
        let storage = try await SQLiteStorage.open(path)
        try await expectHubs(of: storage)
        try await expectNotifications(of: storage)
        try await expectTheRest(of: storage)
        try await storage.checkPages()
        try await storage.close()
        let after = try await Self.counts(path)
        for (table, count) in before { #expect(after[table] == count, "\(table)") }
    }

    private func expectHubs(of storage: SQLiteStorage) async throws {
        let namespace = try await storage.namespace.load()
        #expect(namespace.hubs.map(\.name) == ["hub", "news"] && namespace.lastNumber == 2)
        #expect(namespace.rules.map(\.name) == ["RootManageSharedAccessKey"])
        #expect(namespace.rules.first?.primaryKey.reveal().utf8.count == 44)
        #expect(
            namespace.hubs.first?.description.rules.map(\.name) == [
                "DefaultListenSharedAccessSignature", "DefaultFullSharedAccessSignature", "sender",
            ])
        let hub = try await storage.namespace.store(ofHub: 1).load()
        #expect(hub.registrations.map(\.row) == [0, 1, 2, 3, 6, 7, 8] && hub.unreadable.isEmpty)
        #expect(hub.registrations.compactMap(\.registration.template?.name) == ["news", "news", "news"])
        #expect(hub.registrations.last?.registration.tags.map(\.text) == ["alone"])
        #expect(hub.installations.map(\.installation.id) == ["ana-1", "ana-2", "ana-4"])
        #expect(hub.installations.first?.installation.tags.map(\.text) == ["sports", "número"])
        #expect(hub.tombstones.count == 2 && hub.lastSequence == 4 && !hub.lastOutcomes.isEmpty)
        #expect(try await storage.namespace.store(ofHub: 2).load() == StoredHub())
    }

    private func expectNotifications(of storage: SQLiteStorage) async throws {
        let store = storage.namespace.store(ofHub: 1)
        let notifications = try await store.notifications(before: nil, limit: 9)
        #expect(notifications.map(\.sequence) == [4, 3, 2, 1])
        #expect(try await store.unfinished(after: 0, limit: 9).map(\.sequence) == [2])
        let first = try #require(notifications.last)
        #expect(first.outcome.id == "dd341a6c1db7e6c8d6f72ca368a7042c-20261126112428-1-1" && first.outcome.state == .completed)
        #expect(first.outcome.sent == 2)
        #expect(try await store.devices(ofNotification: 1, from: 0, limit: 9).count == 2)
        let plan = try #require(try await store.plan(1))
        #expect(plan.subject == "template sports" && plan.members == 2)
        #expect(try await store.planPart(1, part: 0)?.isEmpty == false)
    }

    private func expectTheRest(of storage: SQLiteStorage) async throws {
        let ana = try Tag("username:ana")
        #expect(try await storage.accounts.account(ana)?.username == "ana")
        #expect(try await storage.securePayloads.readable(by: ana).map(\.id) == ["201376544"])
        let approval = try #require(try await storage.approvals.approval(1))
        #expect(approval.state == .pending && approval.requester == .owner)
        let run = try #require(try await storage.runs.run(1))
        #expect(run.flow == "greet" && run.state == .completed)
        #expect(try await storage.runs.schedules(startingFrom: HubBench.startTime).map(\.rule.name) == ["greet"])
        guard case .intact(let end) = try await storage.auditTrail.verify() else {
            Issue.record("the chain of the audit log does not hold")
            return
        }
        #expect(end.sequence == 8)
    }
}
