import Support
import Synchronization
import Testing

@testable import PushHub
@testable import PushModel

/// Platforms and notifications do not delay each other.
@Suite struct FairnessTests {
    private let bench: HubBench
    private static let android = DeviceHandle.fcmV1(token: "fcm:token-1")

    init() throws { bench = try HubBench() }

    private func hub(_ concurrentNotifications: Int) async throws -> NotificationHub {
        try await bench.reopened(
            HubSettings(
                limits: HubSettings.Limits(concurrentNotifications: concurrentNotifications),
                dispatch: HubSettings.Dispatch(isConcurrent: true)))
    }

    private func count(_ platform: Platform) -> Int { bench.connector.batches.count { $0.platform == platform } }

    @Test func `A push service that does not answer does not delay other platforms`() async throws {
        try await bench.register(.phone(1))
        try await bench.register(Self.android)
        let hub = try await hub(2)
        let (gate, open) = AsyncStream<Void>.makeStream()
        bench.connector.during { batch in
            if batch.platform == .apns { for await _ in gate {} }
        }
        var ids: [String] = []
        for number in 0..<40 { ids.append(try await hub.accept(.alert("\(number)")).outcome.id) }
        try await until { count(.fcmV1) >= 40 && count(.apns) >= 2 }
        #expect(count(.apns) == 2)
        open.finish()
        await bench.settle()
        #expect(count(.apns) == 40 && count(.fcmV1) == 40)
        for id in ids {
            let outcome = try await hub.outcome(of: id)
            #expect(outcome.state == .completed && outcome.sent == 2 && outcome.devices.count == 2)
        }
        #expect(await hub.backlog == 0)
    }

    @Test func `A notification deferred by a service gives up its slot, and resumes at its retry time`() async throws {
        for number in 1...30 {
            try await bench.register(.phone(number), tags: ["t\(number)"])
            bench.connector.script(.phone(number), .transient(.tooMany, retryAfter: .seconds(600)), .accepted(id: "late"))
        }
        try await bench.register(.phone(31), tags: ["last"])
        let hub = try await hub(1)
        var ids: [String] = []
        for number in 1...30 { ids.append(try await hub.accept(.alert(to: "t\(number)")).outcome.id) }
        let last = try await hub.accept(.alert(to: "last")).outcome.id
        #expect(try await hub.finish(last).sent == 1)
        try await until { await hub.backlog >= 30 }
        #expect(bench.clock.now == HubBench.startTime)
        await bench.settle()
        for id in ids {
            let outcome = try await hub.outcome(of: id)
            #expect(outcome.state == .completed && outcome.sent == 1 && outcome.devices.count == 1)
            #expect(outcome.startedAt == HubBench.startTime && outcome.endedAt == HubBench.startTime + .seconds(600))
        }
        #expect(bench.connector.batches.count == 61)
    }

    @Test func `Only devices without a verdict are retried, and outcomes are in the order of their ends`() async throws {
        for number in 1...4 { try await bench.register(.phone(number)) }
        try await bench.register(.phone(2))
        try await bench.register(Self.android)
        bench.connector.script(.phone(2), .transient(.busy, retryAfter: .seconds(60)), .accepted(id: "late"))
        let hub = try await hub(4)
        let id = try await hub.accept(.alert()).outcome.id
        await bench.settle()
        let batches = bench.connector.batches.filter { $0.platform == .apns }
        #expect(batches.map(\.handles) == [(1...4).map { .phone($0) }, [.phone(2)]])
        #expect(count(.fcmV1) == 1)
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.sent == 5 && outcome.counts[.apns] == [.success: 4, .skipped: 1])
        #expect(outcome.devices.suffix(2).map(\.outcome) == [.success, .skipped])
        #expect(outcome.devices.suffix(2).map(\.handle) == [.phone(2), .phone(2)])
    }

    @Test func `Attempts keep counting while a notification is deferred, and the retry window does not change`() async throws {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: nil))
        let hub = try await hub(1)
        let id = try await hub.accept(.alert()).outcome.id
        await bench.settle()
        let dueTimes = bench.connector.deliveries.map { ($0.time - HubBench.startTime).components.seconds }
        #expect(dueTimes.prefix(6) == [0, 1, 3, 7, 15, 31] && dueTimes.last == 1743)
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .completed && outcome.devices.map(\.outcome) == [.pnsUnavailable])
    }

    @Test func `A deferred notification survives a stop and is resumed by the next process`() async throws {
        for number in 1...2 { try await bench.register(.phone(number)) }
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: .seconds(600)), .accepted(id: "late"))
        let hub = try await hub(1)
        let id = try await hub.accept(.alert()).outcome.id
        try await bench.untilSomebodySleeps()
        await hub.stop()
        #expect(try await bench.store.notification(1)?.outcome.state == .processing)
        let again = try await self.hub(1)
        #expect(try await again.finish(id).sent == 2)
        #expect(bench.connector.batches.map(\.handles) == [[.phone(1), .phone(2)], [.phone(1)]])
        #expect(bench.clock.now == HubBench.startTime)
    }

    @Test func `A send returns after the last result, whatever retry delay a service asks for`() async throws {
        try await bench.register(.phone(1))
        try await bench.register(Self.android)
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: .seconds(60)), .accepted(id: "late"))
        let hub = try await hub(1)
        let outcome = try await bench.passingTime { try await hub.send(.alert()) }
        #expect(outcome.sent == 2 && outcome.endedAt == HubBench.startTime + .seconds(60))
        #expect(bench.connector.deliveries.map(\.batch.platform).sorted() == [.apns, .apns, .fcmV1])
    }
}

@Suite struct LargeSendTests {
    @Test func `Large sends are limited by their number of devices, in order, and one alone always starts`() {
        var largeSends = LargeSendQueue(threshold: 10_000)
        let begun = [(1, 30_000), (2, 60_000), (3, 9_999), (4, 20_000)].map { largeSends.begins($0, devices: $1, limit: 80_000) }
        // The fourth would fit, but waits for the second.
        #expect(begun == [true, false, true, false])
        var next = [largeSends.next(limit: 80_000)]
        largeSends.ended(3)
        next.append(largeSends.next(limit: 80_000))
        largeSends.ended(1)
        for _ in 1...3 { next.append(largeSends.next(limit: 80_000)) }
        #expect(next == [nil, nil, 2, 4, nil] && largeSends.count == 0)
        largeSends.ended(2)
        largeSends.ended(4)
        let alone = [5, 6].map { largeSends.begins($0, devices: 1_000_000, limit: 80_000) }
        #expect(alone == [true, false])
    }

    @Test func `A broadcast that waits for another one lets small sends pass, and reaches all devices`() async throws {
        let bench = try HubBench()
        let hub = try await bench.reopened(
            HubSettings(
                limits: HubSettings.Limits(concurrentNotifications: 4, concurrentDevices: 10_000),
                dispatch: HubSettings.Dispatch(isConcurrent: true)))
        let devices = 10_000
        for number in 1...devices {
            _ = try await hub.createRegistration(
                RegistrationDescription(handle: .phone(number), tags: number == 1 ? [try Tag("one")] : [], template: nil))
        }
        let (gate, open) = AsyncStream<Void>.makeStream()
        let held = Atomic(false)
        bench.connector.during { batch in
            // Blocks the first batch of the first broadcast. The small send may come earlier.
            if batch.handles.count > 1, !held.exchange(true, ordering: .relaxed) { for await _ in gate {} }
        }
        let first = try await hub.accept(.alert("1")).outcome.id
        let second = try await hub.accept(.alert("2")).outcome.id
        let small = try await hub.accept(.alert(to: "one")).outcome.id
        #expect(try await hub.finish(small).sent == 1)
        #expect(await hub.backlog == 1)
        #expect(try await hub.outcome(of: second).startedAt == nil)
        open.finish()
        for id in [first, second] { #expect(try await hub.finish(id).sent == devices) }
        #expect(await hub.backlog == 0)
    }
}
