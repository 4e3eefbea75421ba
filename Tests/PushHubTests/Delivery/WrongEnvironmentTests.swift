import Support
import Testing

@testable import PushHub
@testable import PushModel

/// Detection of tokens of the other environment, by their share.
@Suite struct WrongEnvironmentTests {
    private let bench: HubBench
    private static let words = "most tokens are not of this environment; change the endpoint"
    private static let foreign = Verdict.rejected(
        Rejection(
            status: 400, reason: "BadDeviceToken", explanation: "it may be of the other environment", outcome: .badChannel,
            handleFault: .wrongEnvironment(advice: Self.words)))

    init() throws { bench = try HubBench() }

    private func script(_ numbers: Range<Int>, _ verdict: Verdict) {
        for number in numbers { bench.connector.script(.phone(number), verdict) }
    }

    private func register(_ count: Int) async throws {
        for number in 0..<count { try await bench.register(.phone(number), tags: number == 0 ? ["first"] : []) }
    }

    private var warnings: [String] { bench.events.filter(\.isWarning).map(\.text) }

    @Test func `if half of twenty tokens are of the other environment, no token is removed and a warning appears once`() async throws {
        try await register(40)
        script(0..<20, Self.foreign)
        script(20..<30, .rejected(.invalidHandle()))
        let outcome = try await bench.send(to: nil)
        #expect(outcome.notices.map(\.text) == ["APNs: \(Self.words)"])
        #expect(outcome.pruned.isEmpty && outcome.devices.allSatisfy { !$0.isRegistrationRemoved })
        #expect(await bench.hub.size().registrations == 40)
        #expect(warnings == ["hub \"hub\": APNs: \(Self.words); no invalid handle is removed meanwhile"])
        #expect(await bench.hub.issues() == [DeliveryIssue(.apns, .wrongEnvironment(Self.words, since: HubBench.startTime))])
        #expect(try await bench.hub.notification(outcome.id).outcome.notices == outcome.notices)
        _ = try await bench.send(to: nil)
        #expect(warnings.count == 1)
    }

    @Test func `if fewer than half are of the other environment, invalid tokens are removed without a warning`() async throws {
        try await register(40)
        script(0..<19, Self.foreign)
        script(20..<30, .rejected(.invalidHandle()))
        let outcome = try await bench.send(to: nil)
        #expect(outcome.notices.isEmpty && outcome.pruned == [.apns: ["Unregistered": 10]])
        #expect(await bench.hub.size().registrations == 30)
        #expect(warnings.isEmpty)
        #expect(await bench.hub.issues().isEmpty)
    }

    @Test func `fewer than twenty answers give no warning, but removals stop if half of the tokens are of another environment`()
        async throws
    {
        try await register(4)
        script(1..<2, Self.foreign)
        script(2..<3, .rejected(.invalidHandle()))
        let outcome = try await bench.send(to: "!first && !nobody")
        #expect(outcome.pruned == [.apns: ["Unregistered": 1]])
        script(0..<1, Self.foreign)
        script(3..<4, .rejected(.invalidHandle()))
        script(1..<2, Self.foreign)
        for _ in 1...3 { try await bench.send(to: nil) }
        #expect(await bench.hub.size().registrations == 3)
        #expect(warnings.isEmpty)
    }

    @Test func `once tokens are accepted again that is reported, and invalid ones are removed`() async throws {
        try await register(60)
        script(0..<30, Self.foreign)
        script(59..<60, .rejected(.invalidHandle()))
        _ = try await bench.send(to: nil)
        #expect(await bench.hub.size().registrations == 60)
        script(0..<30, .accepted(id: nil))
        for _ in 1...2 { try await bench.send(to: nil) }
        #expect(warnings.last == "hub \"hub\": APNs: most handles match the credential again")
        #expect(await bench.hub.issues().isEmpty)
        #expect(await bench.hub.size().registrations == 59)
    }

    @Test func `a new credential restarts the detection`() async throws {
        try await register(20)
        script(0..<20, Self.foreign)
        _ = try await bench.send(to: nil)
        await bench.hub.change(connectors: [bench.connector], registrationTTL: nil)
        #expect(await bench.hub.issues().isEmpty)
        script(0..<20, .rejected(.invalidHandle()))
        #expect(try await bench.send(to: nil).pruned == [.apns: ["Unregistered": 20]])
    }

    @Test func `old answers count less and less`() {
        let gauge = WrongEnvironmentDetector()
        #expect(gauge.note(Array(repeating: .accepted(id: nil), count: 100_000), now: HubBench.startTime) == nil)
        var reported: [WrongEnvironmentDetector.Event] = []
        for _ in 0..<200 {
            if let told = gauge.note(Array(repeating: Self.foreign, count: 10), now: HubBench.startTime) { reported.append(told) }
        }
        #expect(reported == [.suspected(Self.words)] && !gauge.isTrusted)
    }

    @Test func `an open circuit is reported with the time of the next try`() async throws {
        try await register(30)
        script(0..<30, .transient(.busy, retryAfter: nil))
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true)))
        _ = try await hub.accept(.alert())
        try await until { await !hub.issues().isEmpty }
        #expect(await hub.issues() == [DeliveryIssue(.apns, .openCircuit(origin: nil, nextTry: HubBench.startTime + .seconds(5)))])
        await hub.stop()
    }
}
