import Crypto
import Delivery
import Logging
import PushModel
import PushRuntime
import Testing
import WebAPI

@testable import PushServer

/// Checking a hub's credentials with the push services, without any effect on devices.
@Suite struct CredentialCheckTests {
    private static func connectors(_ transport: HTTPClientTransport) -> HubConnectors {
        let (clock, random) = (SystemClock(), SystemRandom())
        let senders = APNsSenders(
            pushes: SequentialTransport(transport), connect: { _ in transport }, clock: clock, random: random,
            tokens: ProviderTokenCache(store: NoTokens(), clock: clock))
        let single = SequentialTransport(transport)
        return HubConnectors(
            transports: ServiceTransports(fcm: single, grants: transport, wns: transport, webPush: single, clients: []),
            delivery: DeliverySettings(), clock: clock, random: random, simulation: HubConnectors.Simulation(), senders: senders,
            log: Logger(label: "test"))
    }

    private static func hub(_ credentials: [PlatformCredential.Kind: PlatformCredential]) -> HubRecord {
        HubRecord(
            number: 1, name: "hub", description: HubDescription(credentials: credentials), createdAt: Timestamp(seconds: 0),
            updatedAt: Timestamp(seconds: 0))
    }

    /// Credentials as the developer portals provide them, in the form of the JSON API.
    private static func credentials(_ bench: SimulatorBench) async throws -> [PlatformCredential.Kind: PlatformCredential] {
        let all = try await bench.get("/credentials")
        func text(_ service: String, _ name: String) throws -> JSON { try #require(all[service]?[name]) }
        return [
            .apns: try CredentialRequest(
                .apns,
                [
                    "key": try text("apns", "private_key"), "keyId": try text("apns", "key_id"), "teamId": try text("apns", "team_id"),
                    "topic": try text("apns", "topic"),
                ]
            ).credential(),
            .fcmV1: try CredentialRequest(.fcmV1, ["serviceAccount": try #require(all["fcm"])]).credential(),
            .wns: try CredentialRequest(
                .wns, ["packageSid": try text("wns", "package_sid"), "clientSecret": try text("wns", "client_secret")]
            ).credential(),
            .browser: try CredentialRequest(
                .browser, ["subject": try text("browser", "subject"), "privateKey": try text("browser", "private_key")]
            ).credential(),
        ]
    }

    private static func with(_ body: (SimulatorBench) async throws -> Void) async throws {
        let bench = try await SimulatorBench()
        do {
            try await body(bench)
        } catch {
            _ = await bench.end()
            throw error
        }
        #expect(await bench.end().status == 0)
    }

    @Test func `Valid credentials pass on every platform, and no device receives anything`() async throws {
        try await Self.with { bench in
            let checks = await CredentialChecker(Self.connectors(bench.transport)).checks(of: Self.hub(try await Self.credentials(bench)))
            #expect(checks.map(\.isGood) == [true, true, true, true], "\(checks)")
            #expect(checks.map(\.credential.platform) == [.apns, .fcmV1, .wns, .browser])
            #expect(checks[0].finding == "it accepts the credential (BadDeviceToken for a made-up device)")
            #expect(checks[1].finding == "it accepts the credential (UNREGISTERED for a made-up device)")
            #expect(checks[2].finding == "issued an access token")
            #expect(checks[0].endpoint == "127.0.0.1:\(bench.port)" && checks[3].endpoint == nil)
            #expect(try await bench.ledger().allSatisfy { $0["reason"] != .null })
            #expect(try await bench.get("/phones")["phones"]?.array?.isEmpty ?? true)
        }
    }

    @Test func `A refused credential is reported with the service's reason, and an invalid one is never sent`() async throws {
        try await Self.with { bench in
            var credentials = try await Self.credentials(bench)
            func change(_ kind: PlatformCredential.Kind, _ name: String, _ value: String) {
                let others = credentials[kind]?.properties.filter { $0.name != name } ?? []
                credentials[kind] = PlatformCredential(properties: others + [(name, Secret(value))])
            }
            change(.apns, "Token", P256.Signing.PrivateKey().pemRepresentation)
            change(.fcmV1, "ProjectId", "another-project")
            change(.wns, "SecretKey", "UNSPEAKABLE")
            change(.browser, "VapidPublicKey", "AAAA")
            let checks = await CredentialChecker(Self.connectors(bench.transport)).checks(of: Self.hub(credentials))
            #expect(checks.map(\.isGood) == [false, false, false, false], "\(checks)")
            #expect(
                checks.map(\.finding) == [
                    "it rejects the credential: InvalidProviderToken", "it rejects the credential: NOT_FOUND",
                    "it rejects the credential: invalid_client", "the public VAPID key does not belong to the private one",
                ])
            #expect(checks.allSatisfy { $0.hint?.isEmpty == false })
            #expect(!"\(checks.map { $0.json.text() })".contains("UNSPEAKABLE"))
            #expect(try await bench.ledger().count == 2)
        }
    }

    @Test func `An unreachable push service says nothing about the credential`() async throws {
        let transport = HTTPClientTransport(route: WebAddress("http://127.0.0.1:\(try FreePort.any())"))
        let own = try CredentialRequest(.wns, ["packageSid": "ms-app://s-1-15-2-1-2-3", "clientSecret": "s"]).credential()
        let checks = await CredentialChecker(Self.connectors(transport)).checks(of: Self.hub([.wns: own]))
        #expect(checks.map(\.isGood) == [false])
        #expect(checks.first?.finding == "it did not check the credential: Unreachable", "\(checks)")
        await transport.shutdown()
    }
}

private struct NoTokens: ProviderTokenStore {
    func token(_ key: String) -> ProviderToken? { nil }
    func put(_ token: ProviderToken, for key: String) {}
}
