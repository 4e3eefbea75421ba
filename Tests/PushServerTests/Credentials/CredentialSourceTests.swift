import Crypto
import CryptoExtras
import Delivery
import Foundation
import PushModel
import PushRuntime
import Support
import Testing
import WebAPI

@testable import PushServer

/// Credentials of FCM, WNS and Web Push in the settings: parsing, reloading, checks.
@Suite struct CredentialSourceTests {
    private static let sid = "ms-app://s-1-15-2-1-2-3-4-5-6-7"

    private func faults(_ yaml: String) -> [String] {
        do {
            _ = try ServerSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: [:])
            return []
        } catch {
            return error.details["faults"]?.array?.compactMap(\.string) ?? []
        }
    }

    @Test func `The settings accept a VAPID key in any form`() throws {
        let key = P256.Signing.PrivateKey()
        let expected = Base64URL.encode(key.publicKey.x963Representation)
        let raw = key.rawRepresentation.base64EncodedString()
        for form in [raw, "\"\(raw)\"", key.derRepresentation.base64EncodedString(), key.pemRepresentation] {
            for subject in ["mailto:ops@example.com", "mailto:ops@localhost"] {
                let files = WebPushFiles(subject: subject, key: Secret(form))
                #expect(files.files == [nil])
                #expect(try files.sender().credential(setting: nil).publicKey == expected)
            }
        }
        // Other text is the path of a file.
        #expect(WebPushFiles(subject: "mailto:ops@example.com", key: Secret("vapid.pem")).files == ["vapid.pem"])
    }

    @Test func `Conflicting or missing settings are reported`() {
        #expect(faults("fcm: { service_account: a.json }").isEmpty)
        #expect(faults("wns: { package_sid: ms-app://s, client_secret: s }\nwebpush: { subject: 'mailto:a@b', key: k.pem }").isEmpty)
        #expect(
            faults("wns: { package_sid: ms-app://s, client_secret: s, client_secret_file: f }") == [
                "wns.client_secret and wns.client_secret_file cannot be combined: set one of them"
            ])
        #expect(
            faults("wns: { package_sid: ms-app://s }") == [
                "wns.package_sid also needs wns.client_secret or wns.client_secret_file"
            ])
        #expect(faults("wns: { client_secret_file: f }") == ["the client secret of wns.* also needs wns.package_sid"])
        #expect(faults("webpush: { key: k.pem }") == ["webpush.key also needs webpush.subject"])
        #expect(faults("webpush: { subject: 'mailto:a@b' }") == ["webpush.subject also needs webpush.key"])
    }

    @Test func `A changed secret file is reloaded, and an invalid one leaves the previous secret in use`() throws {
        let folder = try ScriptFolder(["secret": "first\n"])
        var files = WNSFiles()
        (files.packageSID, files.clientSecretFile) = (Self.sid, folder.url.appending(path: "secret").path)
        let watched = WatchedCredential(files)
        func secret() throws -> Secret? {
            if case .wns(let settings) = try watched.current().settings { settings.clientSecret } else { nil }
        }
        #expect(try secret() == Secret("first") && watched.fault == nil)
        try folder.write("secret", Data("second and more\n".utf8))
        guard case .refused(let fault, hasPrevious: true) = watched.reload() else { throw Unexpected() }
        #expect(fault.message.contains("the client secret contains whitespace") && !fault.message.contains("second"))
        #expect(try secret() == Secret("first"))
        try folder.write("secret", Data("third\r\n".utf8))
        guard case .renewed = watched.reload() else { throw Unexpected() }
        #expect(try secret() == Secret("third") && watched.fault == nil)
    }

    @Test func `A VAPID key can be in a file or in the setting itself`() throws {
        let key = P256.Signing.PrivateKey()
        let folder = try ScriptFolder(["vapid.pem": key.pemRepresentation])
        let path = folder.url.appending(path: "vapid.pem").path
        for text in [path, Base64URL.encode(key.rawRepresentation)] {
            var files = WebPushFiles()
            (files.subject, files.key) = ("mailto:a@b.example", Secret(text))
            guard case .webPush(let settings) = try files.sender() else { throw Unexpected() }
            #expect(settings.publicKey == Base64URL.encode(key.publicKey.x963Representation))
        }
        var gone = WebPushFiles()
        (gone.subject, gone.key) = ("mailto:a@b.example", Secret("nowhere.pem"))
        let error = #expect(throws: PushError.self) { try gone.sender() }
        #expect(error?.code == "credential.invalid" && error?.message == "nowhere.pem does not exist")
    }
}

private struct Unexpected: Error {}
