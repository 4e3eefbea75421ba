import PushModel
import Storage
import Support
import Synchronization
import Testing

/// Entries of the audit log.
@Suite struct AuditLogTests {
    private let clock = VirtualClock(now: HubBench.startTime)
    private let trail = MemoryAuditTrail()

    private func lines() async -> [String] {
        await trail.entries(after: 0, limit: 1000, AuditFilter()).map { "\($0.record.actor) \($0.record.action) \($0.record.subject)" }
    }

    @Test(
        arguments: [
            Principal.key("ops", hub: nil), .key("ops", hub: "hub"), .key("a.b-c", hub: "team/news"), .owner, .server,
            .plugin("quiet-hours"), .flow("nightly"),
        ])
    func `A principal can be parsed from its text`(principal: Principal) {
        #expect(Principal(principal.description) == principal)
    }

    @Test(arguments: ["", "key:", "ops", "plugin:", "Owner", "user:ann"])
    func `Text that names no principal is rejected`(text: String) { #expect(Principal(text) == nil) }

    @Test func `Of many similar entries the first are written, and the others are counted, also those that follow`() async throws {
        let log = AuditLog(trail: trail, clock: clock)
        func flood(_ count: Int, _ principal: Principal = .key("app", hub: "hub")) async {
            for number in 1...count { await log.noteOften(principal, .notificationSend, "n-\(number)") }
        }
        await flood(100)
        #expect(await lines().count == AuditLog.maximumInWindow)
        // Another principal has its own limit per minute.
        await flood(1, .owner)
        #expect(await lines().last == "owner notification.send n-1")
        await log.flush()
        #expect(await lines().count == AuditLog.maximumInWindow + 1)
        clock.advance(to: clock.now + AuditLog.window)
        await flood(1)
        #expect(await lines().suffix(2) == ["key:hub/app notification.send 40 more like these", "key:hub/app notification.send n-1"])
        let counted = try #require(await trail.entries(after: 0, limit: 1000, AuditFilter()).dropLast().last)
        #expect(counted.record.details == ["further": "40", "since": HubBench.startTime.description])
        await flood(70)
        await log.flush(all: true)
        #expect(await lines().last == "key:hub/app notification.send 11 more like these")
        await log.flush(all: true)
        #expect(await lines().count == AuditLog.maximumInWindow * 2 + 3)
        #expect(
            await trail.verify()
                == .intact(
                    AuditHead(sequence: 123, hash: try #require(await trail.entries(before: nil, limit: 1, AuditFilter()).first).hash))
        )
    }

    @Test func `Long texts are shortened, so that every entry can be stored`() async throws {
        let log = AuditLog(trail: trail, clock: clock)
        let long = String(repeating: "🂡", count: 70_000)
        await log.note(.owner, .hubCreate, long, ["tags": long])
        let record = try #require(await trail.entries(after: 0, limit: 1, AuditFilter()).first?.record)
        #expect(record.subject.unicodeScalars.count == AuditLog.longestText && record.subject.hasSuffix("🂡…"))
        #expect(record.details["tags"] == record.subject)
    }

    /// Stores no entry.
    private struct FullTrail: AuditTrail {
        static let full = PushError("storage.unavailable", "the disk is full", status: 503, isRetryable: true)
        func append(_ record: AuditRecord) throws(PushError) -> AuditEntry { throw Self.full }
        func entries(after sequence: Int64, limit: Int, _ filter: AuditFilter) -> [AuditEntry] { [] }
        func entries(before sequence: Int64?, limit: Int, _ filter: AuditFilter) -> [AuditEntry] { [] }
        func verify() -> AuditVerification { .intact(.start) }
    }

    @Test func `An entry that cannot be written is reported, and an action that needs its entry is rejected`() async throws {
        let lost = Mutex<[String]>([])
        let log = AuditLog(trail: FullTrail(), clock: clock) { record, error in
            lost.withLock { $0.append("\(record.action) \(error.code)") }
        }
        await log.note(.owner, .hubDelete, "news")
        #expect(lost.withLock { $0 } == ["hub.delete storage.unavailable"])
        #expect(await refusal { try await log.require(.owner, .hubDelete, "news") }?.code == "storage.unavailable")
        #expect(lost.withLock { $0 }.count == 1)
    }
}
