import Delivery
import PushModel
import Testing

@Suite("Verdicts for failed connections")
struct TransportErrorTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func verdict(_ transport: ScriptedTransport) async throws -> Verdict? {
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: clock)
        return await connector.deliver(.apns()).first
    }

    @Test("A request that was not sent is repeated at once, unchanged")
    func notSentOnce() async throws {
        let transport = ScriptedTransport([.fail(.notSent("refused stream")), .answer(200, ["apns-id": "x"])])
        #expect(try await verdict(transport) == .accepted(id: "x"))
        #expect(transport.pushes.count == 2)
        #expect(transport.pushes[0].headers == transport.pushes[1].headers)
    }

    @Test("A request that was twice not sent may be retried later")
    func notSentTwice() async throws {
        let transport = ScriptedTransport([.fail(.notSent("no route")), .fail(.notSent("no route"))])
        let verdict = try #require(await verdict(transport))
        #expect(transport.pushes.count == 2)
        #expect(verdict.isTransient)
        #expect(verdict.rejection?.outcome == .pnsUnreachable)
        #expect(verdict.rejection?.explanation.contains("no route") == true)
    }

    @Test("A request that may have been delivered is not repeated")
    func unknown() async throws {
        let transport = ScriptedTransport([.fail(.unknown("connection reset"))])
        #expect(try await verdict(transport) == .unknown(reason: "connection reset"))
        #expect(transport.pushes.count == 1)
    }

    @Test("A connection that breaks in the second attempt gives an unknown result")
    func notSentThenUnknown() async throws {
        let transport = ScriptedTransport([.fail(.notSent("goaway")), .fail(.unknown("reset"))])
        #expect(try await verdict(transport) == .unknown(reason: "reset"))
    }

    @Test("A broken connection to the token endpoint is retriable, because nothing was sent")
    func tokenEndpoint() async throws {
        let transport = ScriptedTransport([], tokenAnswer: .fail(.unknown("reset")))
        let connector = try WNSConnector(settings: Accounts.wns, transport: transport, clock: clock)
        let verdict = await connector.deliver(.wns()).first
        #expect(verdict?.isTransient == true)
        #expect(verdict?.rejection?.outcome == .pnsUnreachable)
        #expect(transport.pushes.isEmpty)
    }

    @Test("A cancelled delivery has a verdict for every device and sends nothing more")
    func cancelled() async throws {
        let transport = ScriptedTransport([])
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: clock)
        let verdicts = await withTaskGroup(of: [Verdict].self) { group in
            group.cancelAll()
            group.addTask { await connector.deliver(.apns(tokens: ["aa", "bb"])) }
            return await group.next() ?? []
        }
        #expect(verdicts.map { $0.rejection?.outcome } == [.abandoned, .abandoned])
        #expect(transport.all.isEmpty)
    }
}
