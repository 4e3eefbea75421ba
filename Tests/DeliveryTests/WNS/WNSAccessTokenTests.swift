import Delivery
import HTTPTypes
import PushModel
import Testing

@Suite("WNS access tokens")
struct WNSAccessTokenTests {
    private let clock = VirtualClock(now: Accounts.start)
    private static let aDay = #"{"access_token":"day-token","token_type":"bearer","expires_in":86400}"#

    private func connector(_ transport: ScriptedTransport) throws -> WNSConnector {
        try WNSConnector(settings: Accounts.wns, transport: transport, clock: clock)
    }

    @Test("A token is requested with the package's secret, as a form")
    func grant() async throws {
        let transport = ScriptedTransport([])
        _ = await (try connector(transport)).deliver(.wns())
        let grant = try #require(transport.grants.first)
        #expect(grant.request.authority == "login.live.com")
        #expect(grant.request.path == "/accesstoken.srf")
        #expect(
            grant.text == "grant_type=client_credentials&client_id=ms-app%3A%2F%2Fs-1-15-2-1234"
                + "&client_secret=very+secret%2F%2B%26%3D&scope=notify.windows.com")
    }

    @Test("A token is used for a day less five minutes")
    func renewal() async throws {
        let transport = ScriptedTransport([], tokenAnswer: .answer(200, [:], Self.aDay))
        let connector = try connector(transport)
        _ = await connector.deliver(.wns())
        clock.advance(to: Accounts.start + .seconds(86_400 - 301))
        _ = await connector.deliver(.wns())
        #expect(transport.grants.count == 1)
        clock.advance(to: Accounts.start + .seconds(86_400 - 300))
        _ = await connector.deliver(.wns())
        #expect(transport.grants.count == 2)
    }

    @Test("401 renews it once and sends again")
    func refused() async throws {
        let transport = ScriptedTransport([.answer(401), .answer(200, ["X-WNS-Msg-ID": "1"])])
        #expect(await (try connector(transport)).deliver(.wns()).first == .accepted(id: "1"))
        #expect(transport.grants.count == 2)
        #expect(transport.pushes.count == 2)
    }

    @Test("A wrong secret is reported as an error of the settings, without showing it")
    func wrongSecret() async throws {
        let text = #"{"error":"invalid_client","error_description":"Invalid client id"}"#
        let transport = ScriptedTransport([], tokenAnswer: .answer(400, [:], text))
        let rejection = try #require(await (try connector(transport)).deliver(.wns()).first?.rejection)
        #expect(rejection.reason == "invalid_client")
        #expect(rejection.outcome == .invalidCredentials)
        #expect(rejection.explanation.contains("Invalid client id"))
        #expect(!rejection.explanation.contains("secret/"))
    }
}
