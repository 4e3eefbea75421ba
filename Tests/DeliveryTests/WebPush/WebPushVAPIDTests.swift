import Crypto
import Delivery
import HTTPTypes
import PushModel
import Testing

@Suite struct WebPushVAPIDTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func connector(
        _ transport: ScriptedTransport, _ settings: WebPushSettings = Accounts.webPush
    ) throws -> WebPushConnector {
        try WebPushConnector(settings: settings, transport: transport, clock: clock, random: SeededRandom(seed: 1))
    }

    /// The parameter `t` of each request.
    private func tokens(_ transport: ScriptedTransport) -> [Substring] {
        transport.pushes.compactMap { push in
            push.header("Authorization")?.split(separator: ",").first?.dropFirst("vapid t=".count)
        }
    }

    @Test func `the token names the origin, expires within a day, and verifies with the key beside it`() async throws {
        let transport = ScriptedTransport([])
        _ = await (try connector(transport)).deliver(
            .browser(endpoints: ["https://push.example.com:443/a", "https://push.example.com:8443/b"]))
        let header = try #require(transport.pushes.first?.header("Authorization"))
        #expect(header.hasSuffix(", k=" + Base64URL.encode(Accounts.applicationServerKey.publicKey.x963Representation)))
        let token = try #require(tokens(transport).first.flatMap { SignedToken($0) })
        #expect(token.header["alg"] == "ES256")
        #expect(token.claims["aud"] == "https://push.example.com")
        #expect(token.claims["exp"] == .integer(Accounts.start.seconds + 12 * 3600))
        #expect(token.claims["sub"] == "mailto:push@example.com")
        #expect(token.claims.object?.count == 3)
        #expect(token.isSigned(by: Accounts.applicationServerKey.publicKey))
        #expect(tokens(transport).last.flatMap { SignedToken($0) }?.claims["aud"] == "https://push.example.com:8443")
    }

    @Test func `one token serves an origin for eleven hours`() async throws {
        let transport = ScriptedTransport([])
        let connector = try connector(transport)
        let there = "https://push.example.com/a"
        _ = await connector.deliver(.browser(endpoints: [there, there, "https://web.push.example/b"]))
        clock.advance(to: Accounts.start + .seconds(11 * 3600 - 1))
        _ = await connector.deliver(.browser(endpoints: [there]))
        var all = tokens(transport)
        #expect(Set(all).count == 2)
        #expect(all[0] == all[3])
        clock.advance(to: Accounts.start + .seconds(11 * 3600))
        _ = await connector.deliver(.browser(endpoints: [there]))
        all = tokens(transport)
        #expect(all[4] != all[0])
        #expect(SignedToken(all[4])?.claims["exp"] == .integer(Accounts.start.seconds + 23 * 3600))
    }

    @Test func `fifty concurrent deliveries sign one token`() async throws {
        let transport = ScriptedTransport([])
        let connector = try connector(transport)
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { _ = await connector.deliver(.browser()) } }
        }
        #expect(tokens(transport).count == 50)
        #expect(Set(tokens(transport)).count == 1)
    }

    @Test func `tokens of many origins do not fill the memory, and all origins are served`() async throws {
        let transport = ScriptedTransport([])
        let verdicts = await (try connector(transport)).deliver(
            .browser(endpoints: (0..<1030).map { "https://h\($0).example/" } + ["https://h0.example/"]))
        #expect(verdicts.allSatisfy { $0.rejection == nil })
        let all = tokens(transport)
        #expect(all.last.flatMap { SignedToken($0) }?.claims["aud"] == "https://h0.example")
        #expect(all.first != all.last, "the first token was kept beyond the limit")
    }

    @Test func `a private key in PEM is accepted too`() async throws {
        var settings = Accounts.webPush
        settings.privateKey = Secret(Accounts.applicationServerKey.pemRepresentation)
        let transport = ScriptedTransport([])
        _ = await (try connector(transport, settings)).deliver(.browser())
        let token = try #require(tokens(transport).first.flatMap { SignedToken($0) })
        #expect(token.isSigned(by: Accounts.applicationServerKey.publicKey))
    }

    @Test(arguments: ["", "push@example.com", "mailto:", "mailto:push", "mailto:@b", "mailto:a b@c", "http://example.com", "https://"])
    func `a subject that is not a valid contact is refused`(subject: String) {
        var settings = Accounts.webPush
        settings.subject = subject
        let error = #expect(throws: PushError.self) { try connector(ScriptedTransport([]), settings) }
        #expect(error?.code == "credential.invalid")
    }

    @Test func `a subject may be the address of a page`() throws {
        var settings = Accounts.webPush
        settings.subject = "https://example.com/contact"
        _ = try connector(ScriptedTransport([]), settings)
    }

    @Test func `invalid keys and mismatched pairs are refused and not shown`() {
        let foreign = P256.Signing.PrivateKey()
        for (publicKey, privateKey) in [
            (Accounts.webPush.publicKey, "nonsense"), (Accounts.webPush.publicKey, String(repeating: "A", count: 43)),
            (Accounts.webPush.publicKey, "-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----"),
            (Base64URL.encode(foreign.publicKey.x963Representation), Accounts.webPush.privateKey.reveal()),
            (Base64URL.encode(Accounts.applicationServerKey.publicKey.rawRepresentation), Accounts.webPush.privateKey.reveal()),
            ("", Accounts.webPush.privateKey.reveal()),
        ] {
            let settings = WebPushSettings(
                subject: "mailto:a@example.com", publicKey: publicKey, privateKey: Secret(privateKey))
            let error = #expect(throws: PushError.self) { try connector(ScriptedTransport([]), settings) }
            #expect(error?.code == "credential.invalid")
            #expect(error.map { "\($0)" }?.contains(privateKey) == false)
        }
    }
}
