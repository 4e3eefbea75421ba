import Support
import Testing

@testable import PushCore

/// Browsers of several push services: what one of these does is no matter of the others.
@Suite struct BrowserServicesTests {
    private let bench: HubBench
    private static let (well, ill) = ("https://push.example", "https://push.test")

    init() throws { bench = try HubBench() }

    private func browser(_ origin: String, _ number: Int) -> DeviceHandle {
        .browser(
            endpoint: "\(origin)/send/\(number)", p256dh: "B" + String(repeating: "A", count: 86), auth: String(repeating: "a", count: 22))
    }

    /// Browsers of one service beside those of the other, so that each batch that is looked up has some of both.
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
                concurrentNotifications: concurrentNotifications, isSideBySide: true, devicesPerBatch: devicesPerBatch,
                retryWindow: .seconds(1200)))
    }

    /// Batches of a push service; each has devices of one alone.
    private func batches(of origin: String) -> [DeliveryBatch] {
        bench.connector.batches.filter { batch in
            #expect(Set(batch.handles.map { PushService.origin(of: $0) }).count == 1)
            return batch.goes(to: origin)
        }
    }

    private func devices(of origin: String) -> Int { batches(of: origin).reduce(0) { $0 + $1.handles.count } }

    @Test func `one that takes pushes and answers none holds nobody of the others`() async throws {
        try await register(300)
        let hub = try await hub(devicesPerBatch: 20)
        let (gate, open) = AsyncStream<Void>.makeStream()
        bench.connector.during { batch in
            if batch.goes(to: Self.ill) { for await _ in gate {} }
        }
        let id = try await hub.accept(.alert()).outcome.id
        while devices(of: Self.well) < 300 { await Task.yield() }
        #expect(batches(of: Self.ill).map(\.handles.count) == [20, 20, 20, 20])
        #expect(batches(of: Self.well).allSatisfy { $0.handles.count == 20 })
        open.finish()
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 600]])
        #expect(devices(of: Self.ill) == 300 && devices(of: Self.well) == 300)
    }

    @Test func `notifications to browsers of one that answers nobody leave room for those to others`() async throws {
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
        while devices(of: Self.well) < 20 { await Task.yield() }
        #expect(devices(of: Self.ill) == 1)
        open.finish()
        await bench.settle()
        for id in ids { #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 1]]) }
        #expect(await hub.backlog == 0)
    }

    @Test func `a pause that one asks for puts off its own browsers alone, and is kept while the notification is put off`() async throws {
        try await register(2)
        let (later, soon) = (Verdict.transient(.tooMany, retryAfter: .seconds(600)), Verdict.transient(.busy, retryAfter: nil))
        for number in 1...2 { bench.connector.script(browser(Self.ill, number), later, .accepted(id: "late")) }
        bench.connector.script(browser(Self.well, 1), soon, soon, .accepted(id: "soon"))
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        await bench.settle()
        func seconds(_ origin: String) -> [Int64] {
            bench.connector.deliveries.filter { $0.batch.goes(to: origin) }
                .map { ($0.time - HubBench.dawn).components.seconds }
        }
        #expect(seconds(Self.well) == [0, 1, 3])
        #expect(seconds(Self.ill) == [0, 600])
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 4]])
        #expect(bench.connector.batches.count == 5)
    }

    @Test func `one that answers nobody is left in peace, and told by name`() async throws {
        try await register(30)
        for number in 1...30 { bench.connector.script(browser(Self.ill, number), .transient(.busy, retryAfter: nil)) }
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        while await hub.troubles().isEmpty { await Task.yield() }
        #expect(
            await hub.troubles() == [DeliveryTrouble(.browser, .openCircuit(origin: Self.ill, nextTry: HubBench.dawn + .seconds(5)))])
        #expect(bench.notes(.delivery).contains { $0.hasPrefix("Web Push answers nobody at https://push.test: nothing is sent") })
        #expect(devices(of: Self.well) == 30)
        // Whoever comes now is sent to at once, and does not open the way to the other.
        let second = try await hub.accept(.alert(to: "mple:1")).outcome.id
        while try await !hub.outcome(of: second).state.isFinal { await Task.yield() }
        #expect(bench.clock.now == HubBench.dawn)
        #expect(devices(of: Self.ill) == 30)
        for number in 1...30 { bench.connector.script(browser(Self.ill, number), .accepted(id: "late")) }
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 60]])
        #expect(bench.notes(.delivery).contains("Web Push answers again at https://push.test"))
        #expect(await hub.troubles().isEmpty)
    }

    @Test func `one that refuses the credential does so for its own browsers`() async throws {
        try await register(60)
        let refusal = Rejection(status: 403, reason: "BadJwt", explanation: "the key is another", outcome: .invalidCredentials)
        for number in 1...60 { bench.connector.script(browser(Self.ill, number), .rejected(refusal)) }
        let hub = try await hub(devicesPerBatch: 30)
        let id = try await hub.accept(pacedAlert()).outcome.id
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 60, .invalidCredentials: 60]])
        #expect(devices(of: Self.well) == 60)
        #expect(devices(of: Self.ill) < 60)
    }

    /// One batch after the other.
    private func pacedAlert() throws -> NotificationRequest {
        var request = try NotificationRequest.alert()
        request.pace = try Pace("120/s")
        return request
    }

    @Test func `however many there are, everybody has it, and those beyond a number share their batches`() async throws {
        for number in 0..<400 { try await bench.register(browser("https://push\(number % 200).example", number)) }
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.browser: [.success: 400]])
        let counts = bench.connector.batches.map(\.handles.count)
        #expect(counts.count { $0 == 2 } == DeliveryRun.mostOrigins)
        #expect(counts.count == DeliveryRun.mostOrigins + 1 && counts.reduce(0, +) == 400)
    }

    @Test(arguments: 1...6) func `who is ended while browsers are being told apart leaves nobody out`(batch: Int) async throws {
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
        // Whoever waits for its end has asked for it by now, or asks for it soon.
        for _ in 1...batch * 20 { await Task.yield() }
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
