import PushHub
import PushModel
import Support
import Testing

/// A hub whose store cannot be written for a while, as on a full disk.
@Suite struct UnwritableStoreTests {
    private let bench: HubBench

    init() throws { bench = try HubBench() }

    @Test func `A delivery keeps its slot until its end is stored`() async throws {
        try await bench.register(.phone(1))
        let hub = try await bench.reopened(HubSettings(limits: HubSettings.Limits(concurrentNotifications: 1)))
        bench.store.refuse([.record])
        for text in ["1", "2", "3"] { _ = try await hub.accept(.alert(text)) }
        try await bench.untilSomebodySleeps()
        #expect(bench.connector.batches.count == 1)
        #expect(await hub.backlog == 2)
        bench.store.refuse([])
        await bench.settle()
        #expect(bench.connector.batches.count == 3)
        #expect(try await bench.store.unfinished(after: 0, limit: 9).isEmpty)
    }

    @Test func `The next step starts only when the results of the previous one are stored`() async throws {
        for number in 1...6 { try await bench.register(.phone(number)) }
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(devicesPerStep: 2)))
        bench.store.refuse([.record])
        let id = try await hub.accept(.alert()).outcome.id
        try await bench.untilSomebodySleeps()
        #expect(bench.connector.batches.map(\.handles) == [[.phone(1), .phone(2)]])
        bench.store.refuse([])
        await bench.settle()
        #expect(bench.connector.batches.count == 3)
        #expect(try await hub.outcome(of: id).sent == 6)
    }

    @Test func `A stop tries once more to store the ends`() async throws {
        try await bench.register(.phone(1))
        let hub = try await bench.reopened()
        bench.store.refuse([.record])
        _ = try await hub.accept(.alert())
        try await bench.untilSomebodySleeps()
        #expect(try await bench.store.notification(1)?.outcome.state == .enqueued)
        bench.store.refuse([])
        let now = bench.clock.now
        await hub.stop()
        #expect(try await bench.store.notification(1)?.outcome.state == .completed)
        #expect(bench.clock.now == now)
    }

    @Test func `A send returns its result, and its end is stored later`() async throws {
        try await bench.register(.phone(1))
        let hub = try await bench.reopened()
        bench.store.refuse([.record])
        let outcome = try await hub.send(.alert())
        #expect(outcome.state == .completed && outcome.devices.count == 1)
        #expect(try await hub.outcome(of: outcome.id) == outcome)
        bench.store.refuse([])
        await bench.settle()
        #expect(try await bench.store.notification(1)?.outcome.state == .completed)
    }

    @Test func `After a crash, reading the devices already reached is retried until it succeeds`() async throws {
        for number in 1...3 { try await bench.register(.phone(number)) }
        let stored = try await bench.hub.accept(.alert()).outcome
        await bench.settle()
        let devices = try await bench.hub.outcome(of: stored.id).devices
        var outcome = stored
        (outcome.id, outcome.state) = ("n-0002", .processing)
        let request = try await bench.hub.notification(stored.id).request
        _ = try await bench.store.accept(StoredNotification(sequence: 2, request: request, outcome: outcome))
        outcome.tally.count(devices.prefix(2))
        try await bench.store.record(NotificationProgress(sequence: 2, outcome: outcome, devices: Array(devices.prefix(2))))
        bench.store.refuse([.devices])
        let hub = try await bench.reopened()
        try await bench.untilSomebodySleeps()
        #expect(bench.connector.batches.count == 1)
        bench.store.refuse([])
        await bench.settle()
        #expect(bench.connector.batches.map(\.handles.count) == [3, 1])
        #expect(try await hub.outcome(of: "n-0002").sent == 3)
    }

    @Test func `A hub starts although nothing can be stored`() async throws {
        try await bench.register(.phone(1))
        var test = try NotificationRequest.alert()
        test.isTest = true
        let outcome = NotificationOutcome(
            id: "n-0001", state: .processing, tags: nil, times: NotificationTimes(enqueuedAt: HubBench.startTime))
        _ = try await bench.store.accept(StoredNotification(sequence: 1, request: test, outcome: outcome))
        bench.store.refuse([.record, .commit, .accept])
        let hub = try await bench.reopened()
        #expect(await refusal { try await hub.accept(.alert()) }?.status == 503)
        #expect(await hub.size().registrations == 1)
        bench.store.refuse([])
        #expect(try await hub.accept(.alert()).outcome.id == "n-0003")
        await bench.settle()
    }
}
