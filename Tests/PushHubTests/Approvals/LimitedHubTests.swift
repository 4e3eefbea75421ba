import PushHub
import PushModel
import Support
import Testing

@Suite struct LimitedHubTests {
    @Test func `a send returns its results, or is only stored if the hub does not wait for them`() async throws {
        let bench = try HubBench()
        try await bench.register(.phone(1), tags: ["all"])
        let waiting = LimitedHub(bench.hub, nil, waitsForResults: true)
        #expect(try await waiting.send(.alert(to: "all")).sent == 1)
        let accepting = LimitedHub(bench.hub, nil, waitsForResults: false)
        let accepted = try await accepting.send(.alert(to: "all"))
        #expect(accepted.state == .enqueued && accepted.sent == 0)
        await bench.settle()
        #expect(try await bench.hub.outcome(of: accepted.id).sent == 1)
    }
}
