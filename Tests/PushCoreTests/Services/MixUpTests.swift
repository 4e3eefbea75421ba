import Support
import Testing

@testable import PushCore

/// Tokens of the other environment, told by rate.
@Suite struct MixUpTests {
    private let bench: HubBench
    private static let words = "most tokens are not of this environment; change the endpoint"
    private static let foreign = Verdict.rejected(
        Rejection(
            status: 400, reason: "BadDeviceToken", explanation: "it may be of the other environment", outcome: .badChannel,
            mixUp: Self.words))

    init() throws { bench = try HubBench() }

    private func script(_ numbers: Range<Int>, _ verdict: Verdict) {
        for number in numbers { bench.connector.script(.phone(number), verdict) }
    }

    private func register(_ count: Int) async throws {
        for number in 0..<count { try await bench.register(.phone(number), tags: number == 0 ? ["first"] : []) }
    }

    private var warnings: [String] { bench.events.filter(\.isWarning).map(\.text) }

    @Test func `where half of twenty tokens are refused as foreign, dead ones stay, and everybody is told once`() async throws {
        try await register(40)
        script(0..<20, Self.foreign)
        script(20..<30, .rejected(.dead()))
        let outcome = try await bench.send(to: nil)
        #expect(outcome.notices.map(\.text) == ["APNs: \(Self.words)"])
        #expect(outcome.pruned.isEmpty && outcome.devices.allSatisfy { !$0.isRegistrationRemoved })
        #expect(await bench.hub.size().registrations == 40)
        #expect(warnings == ["the hub hub: APNs: \(Self.words); no dead handle is removed meanwhile"])
        #expect(await bench.hub.troubles() == [DeliveryTrouble(.apns, .mixUp(Self.words, since: HubBench.dawn))])
        #expect(try await bench.hub.notification(outcome.id).outcome.notices == outcome.notices)
        _ = try await bench.send(to: nil)
        #expect(warnings.count == 1)
    }

    @Test func `where fewer than half are foreign, dead ones leave and nobody is told anything`() async throws {
        try await register(40)
        script(0..<19, Self.foreign)
        script(20..<30, .rejected(.dead()))
        let outcome = try await bench.send(to: nil)
        #expect(outcome.notices.isEmpty && outcome.pruned == [.apns: ["Unregistered": 10]])
        #expect(await bench.hub.size().registrations == 30)
        #expect(warnings.isEmpty)
        #expect(await bench.hub.troubles().isEmpty)
    }

    @Test func `before twenty have answered nobody is told, but no dead one leaves beside as many foreign ones`() async throws {
        try await register(4)
        script(1..<2, Self.foreign)
        script(2..<3, .rejected(.dead()))
        let outcome = try await bench.send(to: "!first && !nobody")
        #expect(outcome.pruned == [.apns: ["Unregistered": 1]])
        script(0..<1, Self.foreign)
        script(3..<4, .rejected(.dead()))
        script(1..<2, Self.foreign)
        for _ in 1...3 { try await bench.send(to: nil) }
        #expect(await bench.hub.size().registrations == 3)
        #expect(warnings.isEmpty)
    }

    @Test func `once tokens are right again that is said, and dead ones leave`() async throws {
        try await register(60)
        script(0..<30, Self.foreign)
        script(59..<60, .rejected(.dead()))
        _ = try await bench.send(to: nil)
        #expect(await bench.hub.size().registrations == 60)
        script(0..<30, .accepted(id: nil))
        for _ in 1...2 { try await bench.send(to: nil) }
        #expect(warnings.last == "the hub hub: APNs: most handles are those of the credential again")
        #expect(await bench.hub.troubles().isEmpty)
        #expect(await bench.hub.size().registrations == 59)
    }

    @Test func `another credential begins anew`() async throws {
        try await register(20)
        script(0..<20, Self.foreign)
        _ = try await bench.send(to: nil)
        await bench.hub.change(connectors: [bench.connector], registrationTTL: nil)
        #expect(await bench.hub.troubles().isEmpty)
        script(0..<20, .rejected(.dead()))
        #expect(try await bench.send(to: nil).pruned == [.apns: ["Unregistered": 20]])
    }

    @Test func `answers of long ago count less and less`() {
        let gauge = MixUpGauge()
        #expect(gauge.note(Array(repeating: .accepted(id: nil), count: 100_000), now: HubBench.dawn) == nil)
        var news: [MixUpGauge.News] = []
        for _ in 0..<200 { if let told = gauge.note(Array(repeating: Self.foreign, count: 10), now: HubBench.dawn) { news.append(told) } }
        #expect(news == [.suspected(Self.words)] && !gauge.isTrusted)
    }

    @Test func `an open circuit is told with the moment of the next try`() async throws {
        try await register(30)
        script(0..<30, .transient(.busy, retryAfter: nil))
        let hub = try await bench.reopened(HubSettings(isSideBySide: true))
        _ = try await hub.accept(.alert())
        try await until { await !hub.troubles().isEmpty }
        #expect(await hub.troubles() == [DeliveryTrouble(.apns, .openCircuit(origin: nil, nextTry: HubBench.dawn + .seconds(5)))])
        await hub.stop()
    }
}
