import Crypto
import Delivery
import HTTPTypes
import PushLab
import PushModel
import PushRuntime
import Simulators
import Storage
import Support
import Synchronization
import Testing

@testable import PushServer

/// Connectors to `pushhost simulate`, whose APNs limits a team's provider tokens as Apple does.
@Suite struct SimulatedConnectorTests {
    /// The part of `pushhost simulate` that APNs connectors use, in this process.
    private final class Simulator: PushTransport {
        private let credentials: SimulatorCredentials
        private let apns: APNsSimulator
        private let seen = Mutex<[String]>([])
        private let foreignKey = P256.Signing.PrivateKey()
        let topic: String
        private let teamID: String

        init(clock: any HubClock) throws {
            let random = SimulatorRandom(bytes: SystemRandom().bytes)
            credentials = try SimulatorCredentials.generated(random)
            let own = try #require(try JSON(parsing: credentials.text)["apns"])
            (topic, teamID) = (try #require(own["topic"]?.string), try #require(own["team_id"]?.string))
            let key = try P256.Signing.PrivateKey(pemRepresentation: #require(own["private_key"]?.string))
            let time = SimulatorClock(now: { clock.now.milliseconds })
            apns = APNsSimulator(
                lab: PhoneLab(clock: time, random: random, adoption: HandleAdoption()), clock: time, random: random,
                settings: APNsSimulatorSettings(
                    teamID: teamID,
                    keys: [
                        try #require(own["key_id"]?.string): .init(publicKey: key.publicKey),
                        "FOREIGN123": .init(publicKey: foreignKey.publicKey),
                    ], topics: [topic]))
        }

        /// The distinct provider tokens in the requests.
        var tokens: Set<String> { Set(seen.withLock { $0 }) }
        var requests: Int { seen.withLock { $0.count } }

        func destination(of authority: String) -> String { authority }

        func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
            if request.path == "/credentials" { return PushResponse(status: .ok, body: Array(credentials.text.utf8)) }
            if let bearer = request.headerFields[.authorization] { seen.withLock { $0.append(bearer) } }
            let (response, body) = await apns.handle(request, body: body)
            return PushResponse(status: response.status, headers: response.headerFields, body: body)
        }

        /// Sends from other senders of the team, each with its own token.
        func send(from senders: Int, clock: any HubClock) async throws {
            for _ in 0..<senders {
                let settings = APNsSettings(
                    teamID: teamID, keyID: "FOREIGN123", privateKey: Secret(foreignKey.pemRepresentation), topic: topic)
                let connector = try APNsConnector(settings: settings, transport: self, clock: clock)
                _ = await connector.deliver(SimulatedConnectorTests.batch())
            }
            seen.withLock { $0 = [] }
        }
    }

    private let clock = VirtualClock(now: HubBench.startTime)
    private let store = MemoryProviderTokenStore()
    private let simulator: Simulator

    init() throws { simulator = try Simulator(clock: clock) }

    private static func batch(_ headers: [PushHeader] = []) -> DeliveryBatch {
        DeliveryBatch(
            notificationID: "n1", platform: .apns, body: Array(#"{"aps":{"alert":"Hello"}}"#.utf8), headers: headers,
            handles: [.apns(token: String(repeating: "AB", count: 32))])
    }

    /// The connectors of a newly started server. Only stored tokens survive from the previous one.
    private func server() -> SimulatedConnectors {
        SimulatedConnectors(
            authority: "127.0.0.1:8090", transport: simulator, clock: clock, random: SeededRandom(seed: 1),
            tokens: ProviderTokenCache(store: store, clock: clock))
    }

    private func advance(_ duration: Duration) { clock.advance(to: clock.now + duration) }

    @Test func `a server that is killed and restarted repeatedly continues with the stored token`() async {
        for _ in 0..<10 {
            let verdict = await server().connector(for: [.apns]).deliver(Self.batch()).first
            #expect(verdict?.word == "accepted")
            advance(.seconds(60))
        }
        #expect(simulator.tokens.count == 1)
    }

    @Test func `all hubs and the channel management share one token`() async throws {
        let server = server()
        for _ in 0..<5 { #expect(await server.connector(for: [.apns]).deliver(Self.batch()).first?.word == "accepted") }
        for _ in 0..<5 { _ = try await server.channels().all() }
        #expect(simulator.tokens.count == 1 && simulator.requests == 10)
    }

    @Test func `a refusal for the topic does not create another token`() async {
        let connector = server().connector(for: [.apns])
        for _ in 0..<5 {
            #expect(await connector.deliver(Self.batch([PushHeader("apns-topic", "com.example.foreign")])).first?.word == "TopicDisallowed")
            #expect(await connector.deliver(Self.batch()).first?.word == "accepted")
        }
        #expect(simulator.tokens.count == 1)
    }

    @Test func `a token is replaced when it is due, however often the server starts`() async {
        for _ in 0..<180 {
            #expect(await server().connector(for: [.apns]).deliver(Self.batch()).first?.word == "accepted")
            advance(.seconds(60))
        }
        // After 50, 100 and 150 minutes.
        #expect(simulator.tokens.count == 4)
    }

    @Test func `a clock set back a little keeps the token, and one set back far does not`() async throws {
        #expect(await server().connector(for: [.apns]).deliver(Self.batch()).first?.word == "accepted")
        for (seconds, count) in [(Int64(30), 1), (600, 2)] {
            let earlier = VirtualClock(now: HubBench.startTime + .seconds(-seconds))
            let connectors = SimulatedConnectors(
                authority: "127.0.0.1:8090", transport: simulator, clock: earlier, random: SeededRandom(seed: 1),
                tokens: ProviderTokenCache(store: store, clock: earlier))
            _ = await connectors.connector(for: [.apns]).deliver(Self.batch())
            #expect(simulator.tokens.count == count)
        }
    }

    @Test func `if others have used up the team's tokens, one new token is signed and accepted after twenty minutes`() async throws {
        try await simulator.send(from: 3, clock: clock)
        for _ in 0..<19 {
            let verdict = try #require(await server().connector(for: [.apns]).deliver(Self.batch()).first)
            guard case .transient(let rejection, let retryAfter) = verdict else {
                Issue.record("\(verdict)")
                return
            }
            #expect(rejection.reason == "TooManyProviderTokenUpdates" && rejection.isCredentialBlocked && retryAfter == .seconds(1200))
            advance(.seconds(60))
        }
        advance(.seconds(60))
        #expect(await server().connector(for: [.apns]).deliver(Self.batch()).first?.word == "accepted")
        #expect(simulator.tokens.count == 1)
    }
}
