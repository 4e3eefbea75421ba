import Crypto
import Delivery
import Foundation
import HTTPTypes
import HostSupport
import PushModel
import PushRuntime
import Support
import Synchronization
import Testing

@testable import PushServer

/// APNs credentials of hubs and of the settings: parsing, reloading, checks.
@Suite struct APNsCredentialTests {
    private let now = SystemClock().now
    private static let signingKey = P256.Signing.PrivateKey().pemRepresentation

    private func credential(_ properties: [(String, String)]) -> StoredCredential {
        StoredCredential(PlatformCredential(properties: properties.map { ($0.0, Secret($0.1)) }))
    }

    private func folder(_ files: SenderFiles) throws -> ScriptFolder {
        try ScriptFolder(["certificate.pem": files.certificate, "key.pem": files.key, "AuthKey.p8": Self.signingKey])
    }

    // MARK: - Credentials of a hub

    @Test func `A hub's certificate is read as Azure's clients send it`() async throws {
        let folder = try folder(try SenderFiles(end: now + .seconds(90 * 86_400)))
        let file = try await SenderFiles.pkcs12(in: folder.url.path)
        let settings = try credential([
            ("Endpoint", "gateway.push.apple.com"), ("ApnsCertificate", file), ("CertificateKey", "secret"),
        ]).apnsSettings()
        #expect(settings.topic == "com.example.app" && settings.environment == .production && settings.certificate != nil)
        let named = try credential([("ApnsCertificate", file), ("CertificateKey", "secret"), ("AppName", "com.example.other")])
            .apnsSettings()
        #expect(named.topic == "com.example.other" && named.environment == .production)
        for (properties, why) in [
            ([("ApnsCertificate", file), ("CertificateKey", "wrong")], "the password does not open the PKCS #12 file"),
            ([("ApnsCertificate", file)], "the PKCS #12 file has a password, and none was given"),
            ([("ApnsCertificate", "not base64!")], "the hub's ApnsCertificate is not base64"),
            (
                [("Endpoint", "gateway.sandbox.push.apple.com"), ("ApnsCertificate", file), ("CertificateKey", "secret")],
                "the certificate is only for production, but notifications go to development"
            ),
            ([("AppId", "TEAM123456")], "the hub's credential for APNs has no KeyId"),
        ] {
            let error = #expect(throws: PushError.self) { try credential(properties).apnsSettings() }
            #expect(error?.code == "credential.invalid" && error?.message == why)
        }
    }

    @Test(arguments: [
        ("", "production"), ("https://api.push.apple.com:443/3/device", "production"),
        ("https://api.development.push.apple.com:443/3/device", "development"), ("gateway.sandbox.push.apple.com", "development"),
    ])
    func `The endpoint of a token credential determines the environment`(endpoint: String, environment: String) throws {
        let settings = try credential([
            ("Endpoint", endpoint), ("AppId", "TEAM123456"), ("KeyId", "KEY1234567"), ("AppName", "com.example.app"),
            ("Token", Self.signingKey),
        ]).apnsSettings()
        #expect(settings.environment.rawValue == environment && settings.signingKey?.teamID == "TEAM123456")
    }

    // MARK: - Files

    @Test func `Settings name a signing key or a certificate, and conflicting settings are reported`() throws {
        func faults(_ yaml: String) -> [String] {
            do {
                _ = try ServerSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: [:])
                return []
            } catch {
                return error.details["faults"]?.array?.compactMap(\.string) ?? []
            }
        }
        #expect(faults("apns: { key: k.p8, key_id: KEY1234567, team_id: TEAM123456, topic: a.b, environment: development }").isEmpty)
        #expect(faults("apns: { certificate: c.p12, password: secret }").isEmpty)
        #expect(faults("apns: { key: k.p8, topic: a.b }") == ["apns.key also needs apns.key_id, apns.team_id"])
        #expect(
            faults("apns: { key: k, key_id: i, team_id: t, topic: a, certificate: c }") == [
                "apns.key and apns.certificate cannot be combined: set one of them"
            ])
        #expect(faults("apns: { topic: a.b }") == ["apns.* is set without a credential: set apns.key or apns.certificate"])
        #expect(
            faults("apns: { key: k, key_id: i, team_id: t, topic: a, certificate_key: c }") == [
                "apns.certificate_key belongs to apns.certificate: set both"
            ])
        #expect(faults("apns: { environment: staging }").first?.contains("production, development") == true)
    }

    @Test func `Changed files are reloaded, and invalid ones leave the previous credential in use`() throws {
        let first = try SenderFiles(end: now + .seconds(90 * 86_400))
        let folder = try folder(first)
        func path(_ name: String) -> String { folder.url.appending(path: name).path }
        var files = APNsFiles()
        (files.certificate, files.certificateKey) = (path("certificate.pem"), path("key.pem"))
        let watched = WatchedCredential(files)
        let before = try watched.current()
        #expect(before.settings.certificate?.expires.seconds == (now + .seconds(90 * 86_400)).seconds && watched.fault == nil)
        guard case .none = watched.reload() else { throw Unexpected() }
        // The new key does not belong to the old certificate.
        let second = try SenderFiles(end: now + .seconds(400 * 86_400))
        try folder.write("key.pem", Data(second.key.utf8))
        guard case .refused(let fault, true) = watched.reload() else { throw Unexpected() }
        #expect(fault.message.hasPrefix("\(path("certificate.pem")): the private key does not belong to the certificate"))
        #expect(try watched.current().version == before.version && watched.fault == fault)
        guard case .none = watched.reload() else { throw Unexpected() }
        try folder.write("certificate.pem", Data(second.certificate.utf8))
        guard case .renewed = watched.reload() else { throw Unexpected() }
        #expect(try watched.current().settings.certificate?.expires.seconds == (now + .seconds(400 * 86_400)).seconds)
        #expect(watched.fault == nil)
        try FileManager.default.removeItem(atPath: path("key.pem"))
        guard case .refused(let gone, true) = watched.reload() else { throw Unexpected() }
        #expect(gone.message == "\(path("key.pem")) does not exist" || gone.message.contains("key.pem does not exist"), "\(gone.message)")
    }

    @Test func `Every delivery fails with the reason while the files have never been valid`() async throws {
        let folder = try ScriptFolder(["AuthKey.p8": "nothing"])
        var files = APNsFiles()
        files.key = folder.url.appending(path: "AuthKey.p8").path
        (files.keyID, files.teamID, files.topic) = ("KEY1234567", "TEAM123456", "com.example.app")
        let watched = WatchedCredential(files)
        let transport = CountingTransport()
        let senders = APNsSenders(
            pushes: SequentialTransport(transport), connect: { _ in HTTPClientTransport() }, clock: SystemClock(), random: SystemRandom(),
            tokens: ProviderTokenCache(store: NoTokens(), clock: SystemClock()))
        let make: @Sendable (SenderSettings) throws(PushError) -> any Connector = { settings throws(PushError) in
            guard case .apns(let settings) = settings else { throw PushError("test.platform", "not of APNs") }
            return try senders.connector(settings)
        }
        let connector = SettingsConnector([.apns], watched, make)
        let batch = DeliveryBatch(
            notificationID: "n", platform: .apns, body: Array(#"{"aps":{"alert":"Hi"}}"#.utf8), handles: [.apns(token: "AA")])
        guard case .rejected(let rejection)? = await connector.deliver(batch).first else { throw Unexpected() }
        #expect(rejection.outcome == .invalidCredentials && rejection.explanation.contains("AuthKey.p8: the APNs signing key is not"))
        #expect(transport.bearers.isEmpty)
        try folder.write("AuthKey.p8", Data(Self.signingKey.utf8))
        guard case .renewed = watched.reload() else { throw Unexpected() }
        _ = await connector.deliver(batch)
        #expect(transport.bearers.count == 1)
        // Two hubs with the same key share one token.
        _ = await SettingsConnector([.apns], watched, make).deliver(batch)
        #expect(transport.bearers.count == 2 && Set(transport.bearers).count == 1)
        guard case .apns(let settings) = try watched.current().settings else { throw Unexpected() }
        #expect(senders.tokenIssued(settings) != nil)
        try folder.write("AuthKey.p8", Data(P256.Signing.PrivateKey().pemRepresentation.utf8))
        guard case .renewed = watched.reload() else { throw Unexpected() }
        _ = await connector.deliver(batch)
        #expect(Set(transport.bearers).count == 2)
        await senders.shutdown()
    }

    @Test(arguments: [(-1, "expired on"), (29, "expires on"), (31, "")])
    func `A certificate that has expired or expires within a month is reported`(days: Int, finding: String) throws {
        let end = now + .seconds(Int64(days) * 86_400)
        #expect(CredentialExpiry.finding(expiring: end, now: now)?.hasPrefix(finding) ?? finding.isEmpty)
    }

}

extension SenderSettings {
    fileprivate var certificate: APNsCertificate? {
        if case .apns(let settings) = self { settings.certificate } else { nil }
    }
}

private struct Unexpected: Error {}

private struct NoTokens: ProviderTokenStore {
    func token(_ key: String) -> ProviderToken? { nil }
    func put(_ token: ProviderToken, for key: String) {}
}

private final class CountingTransport: PushTransport {
    private let all = Mutex<[String]>([])

    /// The `authorization` headers of the requests, in order.
    var bearers: [String] { all.withLock { $0 } }

    func destination(of authority: String) -> String { authority }

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        all.withLock { $0.append(request.headerFields[.authorization] ?? "") }
        return PushResponse(status: .ok)
    }
}
