import Support
import Testing

@testable import PushHub
@testable import PushModel

/// Browsers of several push services. Each service is independent of the others.
@Suite struct BrowserServicesTests {
    private let bench: HubBench
    private static let (well, ill) = ("https://push.example", "https://push.test")

    init() throws { bench = try HubBench() }

    private func browser(_ origin: String, _ number: Int) -> DeviceHandle {
        .browser(
            endpoint: "\(origin)/send/\(number)", p256dh: "B" + String(repeating: "A", count: 86), auth: String(repeating: "a", count: 22))
    }

    /// Registers browsers of both services in turns, so that each batch of rows has some of both.
    private func register(_ count: Int) async throws {
        for number in 1...count {
            for origin in [Self.well, Self.ill] {
                try await bench.register(browser(origin, number), tags: ["\(origin.suffix(4)):\(number)"])
            }
        }
    }

    private func hub(concurrentNotifications: Int = 4, devicesPerBatch: Int = 500) async throws -> NotificationHub {
        try await bench.reopened(
            HubSettings(
                limits: HubSettings.Limits(concurrentNotifications: concurrentNotifications),
                dispatch: HubSettings.Dispatch(isConcurrent: true, devicesPerBatch: devicesPerBatch, retryWindow: .seconds(1200))))
    }

    /// The batches for a push service. A batch has devices of one service only.
    private func batches(of origin: String) -> [DeliveryBatch] {
        bench.connector.batches.filter { batch in
            #expect(Set(batch.handles.map { PushService.origin(of: $0) }).count == 1)
            return batch.goes(to: origin)
        }
    }

    private func devices(of origin: String) -> Int { batches(of: origin).reduce(0) { $0 + $1.handles.count } }

    @Test func `a service that does not answer does not delay browsers of other services`() async throws {
        try await register(300)
        let hub = try await hub(devicesPerBatch: 20)
        let (gate, open) = AsyncStream<Void>.makeStream()
        bench.connector.during { batch in
            if batch.goes(to: Self.ill) { for await _ in gate {} }
        }
        let id = try await hub.accept(.alert()).outcome.id
        try await until { devices(of: Self.well) >= 300 && devices(of: Self.ill) >= 80 }
        #expect(batches(of: Self.ill).map(\.handles.count) == [20, 20, 20, 20])
        #expect(batches(of: Self.well).allSatisfy { $0.handles.count == 20 })
        open.finish()
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 600]])
        #expect(devices(of: Self.ill) == 300 && devices(of: Self.well) == 300)
    }

    @Test func `notifications that wait for one service leave slots for those to other services`() async throws {
        try await register(20)
        let hub = try await hub(concurrentNotifications: 1)
        let (gate, open) = AsyncStream<Void>.makeStream()
        bench.connector.during { batch in
            if batch.goes(to: Self.ill) { for await _ in gate {} }
        }
        var ids: [String] = []
        for number in 1...20 {
            for tag in ["test:\(number)", "mple:\(number)"] { ids.append(try await hub.accept(.alert(to: tag)).outcome.id) }
        }
        try await until { devices(of: Self.well) >= 20 && devices(of: Self.ill) >= 1 }
        #expect(devices(of: Self.ill) == 1)
        open.finish()
        await bench.settle()
        for id in ids { #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 1]]) }
        #expect(await hub.backlog == 0)
    }

    @Test func `a notification delayed by one service gets its slot at another in its turn`() async throws {
        try await register(4)
        let hub = try await hub(concurrentNotifications: 1)
        let (gate, open) = AsyncStream<Void>.makeStream()
        let (short, end) = AsyncStream<Void>.makeStream()
        bench.connector.during { [connector = bench.connector] batch in
            if batch.goes(to: Self.ill) { for await _ in gate {} }
            if batch.goes(to: Self.well), connector.batches.count == 1 { for await _ in short {} }
        }
        // The healthy service is busy with one notification. The next one is for both services, and the others for the healthy one.
        var ids = [try await hub.accept(.alert(to: "mple:1")).outcome.id]
        try await until { devices(of: Self.well) >= 1 }
        ids.append(try await hub.accept(.alert(to: "mple:2 || test:2")).outcome.id)
        try await until { devices(of: Self.ill) >= 1 }
        for tag in ["mple:3", "mple:4"] { ids.append(try await hub.accept(.alert(to: tag)).outcome.id) }
        end.finish()
        try await until { devices(of: Self.well) >= 4 }
        #expect(devices(of: Self.ill) == 1)
        open.finish()
        await bench.settle()
        for (id, count) in zip(ids, [1, 2, 1, 1]) { #expect(try await hub.outcome(of: id).counts == [.browser: [.success: count]]) }
        #expect(await hub.backlog == 0)
        // No slot was leaked.
        let last = try await hub.accept(.alert()).outcome.id
        await bench.settle()
        #expect(try await hub.outcome(of: last).counts == [.browser: [.success: 8]])
    }

    @Test func `a notification that is cancelled while it waits for a slot gives it up`() async throws {
        try await register(3)
        let hub = try await hub(concurrentNotifications: 1)
        let (gate, open) = AsyncStream<Void>.makeStream()
        bench.connector.during { batch in for await _ in gate {} }
        let first = try await hub.accept(.alert(to: "mple:1")).outcome.id
        try await until { devices(of: Self.well) >= 1 }
        let both = try await hub.accept(.alert(to: "mple:2 || test:2")).outcome.id
        try await until { devices(of: Self.ill) >= 1 }
        async let canceled: Void = hub.cancel(notification: both)
        try await until { bench.notes(.delivery).contains("cancelling \(both)") }
        open.finish()
        try await canceled
        await bench.settle()
        let last = try await hub.accept(.alert(to: "mple:3 || test:3")).outcome.id
        await bench.settle()
        for (id, count) in [(first, 1), (last, 2)] { #expect(try await hub.outcome(of: id).counts == [.browser: [.success: count]]) }
        #expect(try await hub.outcome(of: both).counts[.browser]?.values.reduce(0, +) == 2)
    }

    @Test func `a retry delay of one service defers only its own browsers, and applies while the notification is deferred`() async throws {
        try await register(2)
        let (later, soon) = (Verdict.transient(.tooMany, retryAfter: .seconds(600)), Verdict.transient(.busy, retryAfter: nil))
        for number in 1...2 { bench.connector.script(browser(Self.ill, number), later, .accepted(id: "late")) }
        bench.connector.script(browser(Self.well, 1), soon, soon, .accepted(id: "soon"))
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        // Time passes only while the notification is deferred, not during a request.
        while try await !hub.outcome(of: id).state.isFinal {
            let isIdle = await hub.deliveryCount == 0
            if !isIdle || !bench.clock.advanceToNextDeadline() { await Task.yield() }
        }
        func seconds(_ origin: String) -> [Int64] {
            bench.connector.deliveries.filter { $0.batch.goes(to: origin) }
                .map { ($0.time - HubBench.startTime).components.seconds }
        }
        #expect(seconds(Self.well) == [0, 1, 3])
        #expect(seconds(Self.ill) == [0, 600])
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 4]])
        #expect(bench.connector.batches.count == 5)
    }

    @Test func `a service that does not answer gets no more pushes, and is reported by name`() async throws {
        try await register(30)
        for number in 1...30 { bench.connector.script(browser(Self.ill, number), .transient(.busy, retryAfter: nil)) }
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        // The services are independent, so either may be done first.
        try await until { await !hub.issues().isEmpty && devices(of: Self.well) == 30 }
        #expect(
            await hub.issues() == [DeliveryIssue(.browser, .openCircuit(origin: Self.ill, nextTry: HubBench.startTime + .seconds(5)))])
        #expect(bench.notes(.delivery).contains { $0.hasPrefix("Web Push at https://push.test does not respond; nothing is sent") })
        #expect(devices(of: Self.well) == 30)
        // A new send starts at once and does not close the other service's circuit.
        let second = try await hub.accept(.alert(to: "mple:1")).outcome.id
        try await until { try await hub.outcome(of: second).state.isFinal }
        #expect(bench.clock.now == HubBench.startTime)
        #expect(devices(of: Self.ill) == 30)
        for number in 1...30 { bench.connector.script(browser(Self.ill, number), .accepted(id: "late")) }
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 60]])
        #expect(bench.notes(.delivery).contains("Web Push at https://push.test responds again"))
        #expect(await hub.issues().isEmpty)
    }

    @Test func `the probe of one service does not delay retries at another`() async throws {
        try await register(30)
        for number in 1...30 { bench.connector.script(browser(Self.ill, number), .transient(.busy, retryAfter: nil)) }
        // Its retry is due while the probe of the other service, sent after 5 seconds, has no answer.
        bench.connector.script(browser(Self.well, 1), .transient(.tooMany, retryAfter: .seconds(6)), .accepted(id: "late"))
        let (gate, open) = AsyncStream<Void>.makeStream()
        bench.connector.during { [connector = bench.connector] batch in
            if batch.goes(to: Self.ill), connector.batches.count > 2 { for await _ in gate {} }
        }
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        while devices(of: Self.well) < 31 {
            if !bench.clock.advanceToNextDeadline() { await Task.yield() }
        }
        for number in 1...30 { bench.connector.script(browser(Self.ill, number), .accepted(id: "late")) }
        open.finish()
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 60]])
    }

    @Test func `a rejected credential affects only browsers of that service`() async throws {
        try await register(60)
        let refusal = Rejection(status: 403, reason: "BadJwt", explanation: "the key is another", outcome: .invalidCredentials)
        for number in 1...60 { bench.connector.script(browser(Self.ill, number), .rejected(refusal)) }
        let hub = try await hub(devicesPerBatch: 30)
        let id = try await hub.accept(pacedAlert()).outcome.id
        for number in 1...2 {
            // Time passes only once a batch has its verdicts, so that they come before the next batch.
            try await until { try await hub.outcome(of: id).total >= 30 * number && bench.clock.hasSleepingTasks }
            _ = bench.clock.advanceToNextDeadline()
        }
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 60, .invalidCredentials: 60]])
        #expect(devices(of: Self.well) == 60)
        #expect(devices(of: Self.ill) < 60)
    }

    @Test func `services that share batches do not share verdicts`() async throws {
        for number in 0..<DeliveryRun.mostOrigins { try await bench.register(browser("https://push\(number).example", number)) }
        try await register(60)
        let refusal = Rejection(status: 403, reason: "BadJwt", explanation: "the key is another", outcome: .invalidCredentials)
        for number in 1...60 { bench.connector.script(browser(Self.ill, number), .rejected(refusal)) }
        // In batches of 20 devices in which every device is rejected.
        for number in 61...90 { try await bench.register(browser(Self.ill, number)) }
        for number in 61...90 { bench.connector.script(browser(Self.ill, number), .rejected(refusal)) }
        let hub = try await hub(devicesPerBatch: 20)
        let id = try await hub.accept(pacedAlert()).outcome.id
        await bench.settle()
        let counts = try await hub.outcome(of: id).counts
        #expect(counts == [.browser: [.success: DeliveryRun.mostOrigins + 60, .invalidCredentials: 90]])
    }

    @Test func `services share a pace in turns`() async throws {
        try await register(40)
        var request = try NotificationRequest.alert()
        request.pace = try Pace("40/s")
        let hub = try await hub()
        _ = try await hub.accept(request)
        for number in 1..<8 {
            // Time passes only once a batch has begun, so that it cannot be overtaken by the next one.
            try await until { bench.connector.batches.count >= number && bench.clock.hasSleepingTasks }
            _ = bench.clock.advanceToNextDeadline()
        }
        await bench.settle()
        let order = bench.connector.batches.map { $0.goes(to: Self.well) }
        #expect(order == [true, false, true, false, true, false, true, false])
    }

    @Test func `paced sends to a service that does not answer do not delay others, whatever their number`() async throws {
        try await register(3)
        let hub = try await hub(concurrentNotifications: 2)
        let (gate, open) = AsyncStream<Void>.makeStream()
        bench.connector.during { batch in
            if batch.goes(to: Self.ill) { for await _ in gate {} }
        }
        var ids: [String] = []
        for _ in 1...10 {
            var request = try NotificationRequest.alert(to: "test:1")
            request.pace = try Pace("200/s")
            ids.append(try await hub.accept(request).outcome.id)
        }
        let well = try await hub.accept(.alert(to: "mple:1")).outcome.id
        try await until { try await hub.outcome(of: well).state.isFinal && devices(of: Self.ill) >= 2 }
        #expect(devices(of: Self.ill) == 2)
        #expect(await hub.backlog == 8)
        // A send that has not started is cancelled without waiting for those before it.
        try await hub.cancel(notification: ids[9])
        #expect(try await hub.outcome(of: ids[9]).state == .canceled)
        open.finish()
        await bench.settle()
        for id in ids.dropLast() { #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 1]]) }
        #expect(devices(of: Self.ill) == 9)
    }

    /// With this pace one batch is sent after the other.
    private func pacedAlert() throws -> NotificationRequest {
        var request = try NotificationRequest.alert()
        request.pace = try Pace("120/s")
        return request
    }

    @Test func `any number of services is reached, and those beyond a limit share batches`() async throws {
        for number in 0..<400 { try await bench.register(browser("https://push\(number % 200).example", number)) }
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 400]])
        let counts = bench.connector.batches.map(\.handles.count)
        #expect(counts.count { $0 == 2 } == DeliveryRun.mostOrigins)
        #expect(counts.count == DeliveryRun.mostOrigins + 1 && counts.reduce(0, +) == 400)
    }

    @Test(arguments: 1...6) func `a cancellation while browsers are sorted by service leaves out no browser`(batch: Int) async throws {
        try await register(100)
        let hub = try await hub(devicesPerBatch: 2)
        let (gate, open) = AsyncStream<Void>.makeStream()
        let (reached, reach) = AsyncStream<Void>.makeStream()
        bench.connector.during { [connector = bench.connector] _ in
            guard connector.batches.count >= batch else { return }
            reach.yield()
            for await _ in gate {}
        }
        let id = try await hub.accept(.alert()).outcome.id
        for await _ in reached { break }
        async let canceled: Void = hub.cancel(notification: id)
        try await until { bench.notes(.delivery).contains("cancelling \(id)") }
        open.finish()
        try await canceled
        let outcome = try await hub.outcome(of: id)
        let counts = outcome.counts[.browser] ?? [:]
        #expect(counts[.success, default: 0] + counts[.abandoned, default: 0] == 200, "\(counts)")
        #expect(counts[.success, default: 0] >= 2 && Set(outcome.devices.map(\.handle)).count == 200)
        await bench.settle()
    }
}

extension DeliveryBatch {
    fileprivate func goes(to origin: String) -> Bool { handles.first.flatMap(PushService.origin)?.elementsEqual(origin) == true }
}
