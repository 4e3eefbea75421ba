import Foundation
import HostSupport
import PushModel
import PushRuntime
import Storage
import Support
import Testing

/// Expiry and reloading of APNs certificates, by a running server.
@Suite struct APNsReloadTests {
    private let now = SystemClock().now

    /// Stores `hub`, which has no certificate, and a hub with one that was valid when it was set.
    private static func keepHub(_ name: String, _ files: SenderFiles, in folder: URL) async throws {
        let made = try ScriptFolder(["certificate.pem": files.certificate, "key.pem": files.key])
        let own = PlatformCredential(properties: [
            ("ApnsCertificate", Secret(try await SenderFiles.pkcs12(in: made.url.path))), ("CertificateKey", Secret("secret")),
        ])
        let data = folder.appending(path: "data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let (storage, now) = (try await SQLiteStorage.ofServer(in: data), SystemClock().now)
        for (number, name, credentials) in [(1, "hub", [:]), (2, name, [PlatformCredential.Kind.apns: own])] {
            try await storage.namespace.putHub(
                HubRecord(
                    number: Int64(number), name: name, description: HubDescription(credentials: credentials), createdAt: now,
                    updatedAt: now))
        }
        try await storage.close()
    }

    @Test func `A server reloads its files at SIGHUP, and doctor and metrics report when they expire`() async throws {
        let files = try SenderFiles(end: now + .seconds(90 * 86_400))
        let folder = try ScriptFolder(["certificate.pem": files.certificate, "key.pem": files.key])
        try folder.write(
            "pushhost.yaml",
            Data("apns: { certificate: certificate.pem, certificate_key: key.pem }\nlisten: { port: 0, tls_port: none }\n".utf8))
        let ended = try SenderFiles(topic: "com.example.ended", end: now + .seconds(-86_400))
        try await Self.keepHub("ended", ended, in: folder.url)
        let server = try Dialogue(["serve", "--data", "data"], in: folder.url)
        try await server.hear("Press Ctrl-C to stop.")
        func metric(of hub: String = "hub") async throws -> String {
            let lines = try await BuiltProgram.shell(
                "curl -s --unix-socket data/pushhost.sock http://localhost/metrics | grep '^pushhost_credential_expires'", in: folder.url
            ).output.split(separator: "\n")
            return lines.filter { $0.contains("hub=\"\(hub)\"") }.joined(separator: "\n")
        }
        func doctor() async throws -> String { try await BuiltProgram.shell("$P doctor --data data", in: folder.url).output }
        #expect(
            try await metric()
                == "pushhost_credential_expires_seconds{hub=\"hub\",platform=\"apns\"} \((now + .seconds(90 * 86_400)).seconds)")
        let well = try await doctor()
        #expect(well.contains("✓ APNs          settings: certificate for com.example.app, production, valid until "), "\(well)")

        let soon = try SenderFiles(end: now + .seconds(10 * 86_400))
        try folder.write("key.pem", Data(soon.key.utf8))
        server.signal(SIGHUP)
        try await server.hear("the previous APNs credential stays in use: certificate.pem: the private key does not belong")
        let kept = try await BuiltProgram.shell("$P hub show hub --data data", in: folder.url).output
        #expect(kept.contains("apns.certificate cannot be used; for the reason run pushhost doctor"), "\(kept)")
        let broken = try await doctor()
        #expect(broken.contains("✗ APNs          certificate.pem: the private key does not belong to the certificate"), "\(broken)")
        #expect(broken.contains("the server continues with the previous one"))
        try folder.write("certificate.pem", Data(soon.certificate.utf8))
        server.signal(SIGHUP)
        try await server.hear("the APNs credential was reloaded: certificate for com.example.app, production, valid until ")
        // The metrics may be one second old.
        try await until { try await metric().hasSuffix(" \((now + .seconds(10 * 86_400)).seconds)") }
        let warned = try await doctor()
        #expect(warned.contains("! APNs          settings: certificate for com.example.app, production: it expires on "), "\(warned)")

        // A hub's own credential takes precedence and is checked too.
        let found = try await BuiltProgram.shell("$P doctor --data data", in: folder.url)
        #expect(
            found.output.contains("✗ APNs          hub ended: certificate for com.example.ended, production: it expired on "),
            "\(found.output)")
        #expect(found.status == 1)
        let shown = try await BuiltProgram.shell("$P hub show ended --data data", in: folder.url).output
        #expect(
            shown.contains(
                "credential              APNs: certificate for com.example.ended, production, to api.push.apple.com:443, valid until ")
                && shown.contains(", the hub's own\n"), "\(shown)")
        let other = try await BuiltProgram.shell("$P hub show hub --data data", in: folder.url).output
        #expect(other.contains("push services           apns\n") && other.contains(", from the settings (apns.certificate)\n"), "\(other)")
        #expect(try await metric(of: "ended").contains("{hub=\"ended\",platform=\"apns\"} \((now + .seconds(-86_400)).seconds)"))
        _ = try await BuiltProgram.shell("$P hub delete ended --yes --data data", in: folder.url)
        try await until { try await metric(of: "ended").isEmpty }
        server.signal(SIGTERM)
        let told = await server.end(closingInput: false)
        #expect(told.status == 0 && !told.output.contains("secret"))
    }
}
