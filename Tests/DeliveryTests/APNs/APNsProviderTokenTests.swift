import Crypto
import Delivery
import HTTPTypes
import PushModel
import Synchronization
import Testing

@Suite("The provider token of APNs")
struct APNsProviderTokenTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func connector(_ transport: ScriptedTransport, token: APNsProviderToken? = nil) throws -> APNsConnector {
        try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: clock, token: token)
    }

    private func tokens(_ transport: ScriptedTransport) -> [String] {
        transport.pushes.compactMap { $0.header("authorization").map { String($0.dropFirst("bearer ".count)) } }
    }

    @Test("The token has the team, the key and the hub's time, and its signature is valid")
    func claims() async throws {
        let transport = ScriptedTransport([])
        _ = await (try connector(transport)).deliver(.apns())
        let token = try #require(tokens(transport).first.flatMap { SignedToken($0) })
        #expect(token.header["alg"] == "ES256")
        #expect(token.header["kid"] == "KEY1234567")
        #expect(token.claims["iss"] == "TEAM123456")
        #expect(token.claims["iat"] == .integer(Accounts.start.seconds))
        #expect(token.claims.object?.count == 2)
        #expect(token.isSigned(by: Accounts.signingKey.publicKey))
        #expect(!token.isSigned(by: P256.Signing.PrivateKey().publicKey))
    }

    @Test("The token is signed once and renewed after fifty minutes")
    func renewal() async throws {
        let transport = ScriptedTransport([])
        let connector = try connector(transport)
        _ = await connector.deliver(.apns(tokens: ["aa", "bb"]))
        clock.advance(to: Accounts.start + .seconds(50 * 60 - 1))
        _ = await connector.deliver(.apns())
        #expect(Set(tokens(transport)).count == 1)
        clock.advance(to: Accounts.start + .seconds(50 * 60))
        _ = await connector.deliver(.apns())
        let all = tokens(transport)
        #expect(all.count == 4)
        #expect(all[3] != all[0])
        #expect(SignedToken(all[3])?.claims["iat"] == .integer(Accounts.start.seconds + 3000))
    }

    @Test("Connectors that share a token send the same one")
    func sharing() async throws {
        let transport = ScriptedTransport([])
        let token = try APNsProviderToken(settings: Accounts.apns, clock: clock)
        _ = await (try connector(transport, token: token)).deliver(.apns())
        _ = await (try connector(transport, token: token)).deliver(.apns())
        #expect(Set(tokens(transport)).count == 1)
    }

    @Test("A new process uses the token of the previous one while it is valid")
    func storedToken() async throws {
        let store = StoredTokens()
        let transport = ScriptedTransport([])
        func deliver(_ settings: APNsSettings = Accounts.apns) async throws {
            let token = try APNsProviderToken(settings: settings, clock: clock, store: store)
            _ = await (try connector(transport, token: token)).deliver(.apns())
        }
        try await deliver()
        clock.advance(to: Accounts.start + .seconds(50 * 60 - 1))
        try await deliver()
        #expect(Set(tokens(transport)).count == 1)
        // Another key has its own token.
        var other = Accounts.apns
        other.authentication = .token(
            APNsSigningKey(teamID: "TEAM123456", keyID: "OTHER12345", privateKey: Secret(Accounts.signingKey.pemRepresentation)))
        try await deliver(other)
        #expect(Set(tokens(transport)).count == 2)
        clock.advance(to: Accounts.start + .seconds(50 * 60))
        try await deliver()
        try await deliver()
        #expect(Set(tokens(transport)).count == 3 && tokens(transport).count == 5)
    }

    @Test("Fifty concurrent deliveries sign one token")
    func singleFlight() async throws {
        let transport = ScriptedTransport([])
        let connector = try connector(transport)
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { _ = await connector.deliver(.apns()) } }
        }
        #expect(tokens(transport).count == 50)
        #expect(Set(tokens(transport)).count == 1)
    }

    @Test("An expired token is replaced once, and the notification keeps its id")
    func expired() async throws {
        let expired = ScriptedTransport.Step.answer(403, [:], #"{"reason":"ExpiredProviderToken"}"#)
        let transport = ScriptedTransport([.answer(200), expired, .answer(200), expired, expired])
        let connector = try connector(transport)
        _ = await connector.deliver(.apns())
        clock.advance(to: Accounts.start + .seconds(20 * 60))
        #expect(await connector.deliver(.apns()).first?.rejection == nil)
        let pushes = transport.pushes
        #expect(pushes.count == 3)
        #expect(pushes[1].header("apns-id") == pushes[2].header("apns-id"))
        #expect(pushes[1].header("authorization") != pushes[2].header("authorization"))
        clock.advance(to: Accounts.start + .seconds(40 * 60))
        let verdict = await connector.deliver(.apns()).first
        #expect(transport.pushes.count == 5)
        #expect(verdict?.isRejected == true)
        #expect(verdict?.rejection?.outcome == .invalidCredentials)
    }

    @Test("A token younger than twenty minutes is not replaced, whatever APNs answers")
    func tooYoung() async throws {
        let transport = ScriptedTransport([.answer(403, [:], #"{"reason":"ExpiredProviderToken"}"#)])
        let verdict = await (try connector(transport)).deliver(.apns()).first
        #expect(transport.pushes.count == 1)
        #expect(verdict?.rejection?.reason == "ExpiredProviderToken")
    }

    @Test("A new token that APNs blocks is tried with five devices of a batch, not with all")
    func trial() async throws {
        let blocked = ScriptedTransport.Step.answer(429, [:], #"{"reason":"TooManyProviderTokenUpdates"}"#)
        let transport = ScriptedTransport(Array(repeating: blocked, count: 9))
        let connector = try connector(transport)
        let devices = (0..<500).map { "aa\(1_000 + $0)" }
        let verdicts = await connector.deliver(.apns(tokens: devices))
        #expect(transport.pushes.count == 5 && verdicts.count == 500)
        #expect(verdicts.allSatisfy { $0.rejection?.isCredentialBlocked == true && $0.retryAfter == .seconds(1200) })
        #expect(verdicts.map { $0.rejection?.status } == Array(repeating: 429, count: 5) + Array(repeating: 0, count: 495))
        // One accepted push shows that the token is not blocked: the rest of the batch follows, once.
        let mixed = await connector.deliver(.apns(tokens: devices))
        #expect(mixed.map { $0.rejection == nil } == Array(repeating: false, count: 4) + Array(repeating: true, count: 496))
        #expect(Set(transport.pushes.dropFirst(5).compactMap(\.request.path)).count == 500 && transport.pushes.count == 505)
        clock.advance(to: Accounts.start + .seconds(50 * 60))
        _ = await connector.deliver(.apns(tokens: devices))
        #expect(transport.pushes.count == 1_005 && Set(tokens(transport)).count == 2)
    }

    @Test("A key that cannot sign is rejected at once")
    func badKey() {
        var settings = Accounts.apns
        settings.authentication = .token(
            APNsSigningKey(
                teamID: "TEAM123456", keyID: "KEY1234567",
                privateKey: Secret("-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----")))
        let error = #expect(throws: PushError.self) { try APNsProviderToken(settings: settings, clock: clock) }
        #expect(error?.code == "credential.invalid")
        #expect(error.map { "\($0)" }?.contains("nonsense") == false)
    }
}

private final class StoredTokens: ProviderTokenStore {
    private let tokens = Mutex<[String: ProviderToken]>([:])

    func token(_ key: String) -> ProviderToken? { tokens.withLock { $0[key] } }

    func put(_ token: ProviderToken, for key: String) { tokens.withLock { $0[key] = token } }
}
