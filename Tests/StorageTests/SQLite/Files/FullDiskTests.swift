import PushHub
import PushModel
import Storage
import Support
import Synchronization
import Testing

/// A hub on a full disk.
@Suite struct FullDiskTests {
    private let clock = VirtualClock(now: HubBench.startTime)
    private let connector: ScriptedConnector

    init() { connector = ScriptedConnector(clock: clock) }

    private func hub(_ storage: SQLiteStorage) async throws -> NotificationHub {
        let store = storage.namespace.store(ofHub: 1)
        return NotificationHub(
            environment: HubEnvironment(
                clock: clock, random: SeededRandom(seed: 1), start: { work in Task { await work() } }),
            connectors: [connector], store: store, stored: try await store.load(),
            settings: HubSettings(acceptance: HubSettings.Acceptance(naming: .unique)))
    }

    /// Advances the clock until the work is done.
    private func passingTime(_ work: @escaping @Sendable () async throws -> Void) async throws {
        let isDone = Atomic(false)
        async let result: Void = {
            defer { isDone.store(true, ordering: .relaxed) }
            try await work()
        }()
        while !isDone.load(ordering: .relaxed) {
            if !clock.advanceToNextDeadline() { await Task.yield() }
        }
        try await result
    }

    /// Accepts sends until the disk is full, and again once there is space. Accepted sends are neither lost nor sent twice.
    private func run(_ storage: SQLiteStorage, fill: () async throws -> Void, makeRoom: () async throws -> Void) async throws {
        let hub = try await hub(storage)
        let registration = try await hub.createRegistration(RegistrationDescription(handle: .phone(1)))
        try await fill()
        var (accepted, refused): ([String], PushError?) = ([], nil)
        while refused == nil, accepted.count < 50_000 {
            do throws(PushError) {
                accepted.append(try await hub.accept(Self.request).outcome.id)
            } catch {
                refused = error
            }
        }
        #expect(refused?.code == "storage.unavailable" && refused?.status == 503 && refused?.isRetryable == true)
        #expect(try await hub.registrations(.all, page: Page()).registrations == [registration])
        try await makeRoom()
        let waiting = accepted
        try await passingTime {
            for id in waiting {
                let outcome = try await hub.finish(id)
                #expect(outcome.state == .completed)
            }
        }
        #expect(connector.batches.map(\.notificationID).sorted() == accepted.sorted())
        // Results are reported before they are stored. A result whose write failed is written again.
        try await passingTime {
            let store = storage.namespace.store(ofHub: 1)
            try await until { try await store.unfinished(after: 0, limit: 9).isEmpty }
        }
        let more = try await hub.accept(Self.request).outcome.id
        try await passingTime {
            let outcome = try await hub.finish(more)
            #expect(outcome.sent == 1)
        }
        await hub.stop()
    }

    private static let request = NotificationRequest(
        audience: .everyone, content: .native([.apns: NativePayload(body: Array(#"{"aps":{}}"#.utf8))]))

    @Test func `Accepted sends are neither lost nor sent twice, and sending resumes once there is space`() async throws {
        let bench = try await Bench()
        let pages = try #require(try await bench.integer("PRAGMA page_count"))
        try await run(
            bench.storage, fill: { try await bench.execute("PRAGMA max_page_count = \(pages + 8)") },
            makeRoom: { try await bench.execute("PRAGMA max_page_count = 100000") })
    }

    @Test func `The same holds if the file system is full, and a server can start there`() async throws {
        // Mounting needs root. The test above checks the same conditions without it.
        guard let disk = try SmallDisk() else { return }
        let path = disk.file("hub.db")
        let storage = try await SQLiteStorage.open(path)
        try await run(storage, fill: { try disk.fill() }, makeRoom: { disk.makeRoom() })
        let kept = try await storage.namespace.store(ofHub: 1).load()
        try disk.fill()
        let second = try await SQLiteStorage.open(path)
        #expect(try await second.namespace.store(ofHub: 1).load() == kept)
        disk.makeRoom()
        try await second.close()
        try await storage.close()
    }
}
