import Crypto
import CryptoExtras
import Delivery
import Foundation
import HostSupport
import PushModel
import PushRuntime
import Testing

/// `pushhost hub credentials` with a running server.
@Suite struct CredentialCommandTests {
    private static let sid = "ms-app://s-1-15-2-1-2-3-4-5-6-7"

    /// A service account file with its own key.
    private static func account() throws -> String {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
        let file: JSON = [
            "type": "service_account", "project_id": "demo-project", "private_key_id": "f00dfeed", "private_key": .string(key),
            "client_email": "hub@demo-project.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
        ]
        return file.text()
    }

    /// The parts of a key that must not be printed.
    private static func lines(_ pem: String) -> [String] {
        pem.split(whereSeparator: \.isNewline).map(String.init).filter { !$0.hasPrefix("-----") }
    }

    @Test func `Credentials of all platforms can be set, shown and removed, and their secrets are never printed`() async throws {
        let (signing, account) = (P256.Signing.PrivateKey().pemRepresentation, try Self.account())
        let vapid = P256.Signing.PrivateKey()
        try await ServedHub.serving(settings: ["PUSHHOST_LOG_LEVEL": "debug"]) { hub in
            let folder = hub.data.deletingLastPathComponent()
            for (name, text) in [
                ("AuthKey_KEY1234567.p8", signing), ("account.json", account), ("secret", "\(ServedHub.unspeakable)/+\n"),
                ("vapid.pem", vapid.pemRepresentation),
            ] {
                try Data(text.utf8).write(to: folder.appending(path: name))
            }
            var said = ""
            func command(_ words: String...) async throws -> BuiltProgram {
                let program = try await hub.command(["hub", "credentials"] + words)
                said += program.output + program.errors
                return program
            }
            #expect(try await command("show").output == "no credentials\n")
            #expect(try await command("check").output == "no credentials\n")
            let apns = try await command(
                "set", "apns", "--key", "AuthKey_KEY1234567.p8", "--team-id", "TEAM123456", "--topic", "com.example.app", "--environment",
                "development")
            #expect(
                apns.output == """
                    ✓ hub hub has a new credential
                      APNs      token for com.example.app, development, to api.sandbox.push.apple.com:443, the hub's own

                    """, "\(apns.errors)")
            let fcm = try await command("set", "fcm", "hub", "--service-account", "account.json")
            let address = "hub@demo-project.iam.gserviceaccount.com"
            #expect(
                fcm.output.contains(
                    "  FCM       service account \(address) for the project demo-project, to fcm.googleapis.com, the hub's own\n"),
                "\(fcm)")
            let wns = try await command("set", "wns", "--package-sid", Self.sid, "--client-secret-file", "secret")
            #expect(wns.output.contains("  WNS       client secret for \(Self.sid), the hub's own\n"), "\(wns)")
            let web = try await command("set", "webpush", "--subject", "mailto:ops@example.com", "--key", "vapid.pem")
            let publicKey = Base64URL.encode(vapid.publicKey.x963Representation)
            #expect(web.output.contains("  Web Push  VAPID key of mailto:ops@example.com, the hub's own\n"), "\(web)")
            #expect(web.output.contains("\n    \(publicKey)\n"), "\(web)")

            let shown = try await command("show", "--json")
            let items = try #require(try JSON(parsing: shown.output)["result"]?["items"]?.array)
            #expect(items.compactMap { $0["platform"]?.string } == ["apns", "fcm", "wns", "browser"])
            #expect(items.last?["publicKey"]?.string == publicKey && items[1]["account"]?.string == address)
            let detail = try await hub.command(["hub", "show"])
            #expect(detail.output.contains("push services           apns, fcm, wns, browser\n"), "\(detail.output)")
            let metrics = try await hub.call("GET", "/metrics", by: nil).body
            for platform in ["apns", "fcmv1", "wns", "browser"] {
                #expect(metrics.contains(#"pushhost_credential_usable{hub="hub",platform="\#(platform)"} 1"#))
            }

            // A new key would silence all browsers that subscribed with the old one.
            let asked = try await command("set", "webpush", "--subject", "mailto:ops@example.com", "--generate")
            #expect(asked.status == 2 && asked.errors.contains("error[usage.confirmation]"), "\(asked)")
            let made = try await command("set", "webpush", "--subject", "mailto:ops@example.com", "--generate", "--yes")
            #expect(made.status == 0 && !made.output.contains(publicKey))

            for platform in ["apns", "fcm", "wns", "webpush"] {
                #expect(try await command("remove", platform, "--yes").status == 0)
            }
            let none = try await command("remove", "fcm", "--yes")
            #expect(none.status == 4 && none.errors.contains("error[credential.not_found]"), "\(none)")
            #expect(try await command("show").output == "no credentials\n")
            let key = try #require(try JSON(parsing: account)["private_key"]?.string)
            for secret in [ServedHub.unspeakable] + Self.lines(signing) + Self.lines(key) + Self.lines(vapid.pemRepresentation) {
                #expect(!(said + detail.output).contains(secret))
            }
        }
    }

    @Test func `An invalid credential is rejected with the reason, and the previous one stays`() async throws {
        try await ServedHub.serving { hub in
            let folder = hub.data.deletingLastPathComponent()
            let p256 = P256.Signing.PrivateKey().pemRepresentation
            for (name, text) in [("AuthKey_KEY1234567.p8", p256), ("other.json", "{}"), ("secret", "one\ntwo\n"), ("junk", "junk")] {
                try Data(text.utf8).write(to: folder.appending(path: name))
            }
            let kept = try await hub.command(["hub", "credentials", "set", "webpush", "--subject", "mailto:a@b.example", "--generate"])
            #expect(kept.status == 0, "\(kept)")
            let before = try await hub.command(["hub", "credentials", "show"]).output
            let refusals: [(words: [String], status: Int32, code: String, why: String)] = [
                (["apns"], 2, "usage.value", "missing option --key or --certificate"),
                (["apns", "--key", "AuthKey_KEY1234567.p8"], 2, "usage.value", "--key needs --team-id and --topic"),
                (["apns", "--key", "gone.p8", "--key-id", "KEY1234567", "--team-id", "T", "--topic", "a"], 2, "usage.value", "gone.p8"),
                (
                    ["apns", "--key", "junk", "--key-id", "KEY1234567", "--team-id", "TEAM123456", "--topic", "a.b"], 4,
                    "credential.invalid",
                    "the APNs signing key is not a P-256 private key in PKCS #8"
                ),
                (["apns", "--certificate", "junk"], 4, "credential.invalid", "this is not a PKCS #12 file"),
                (["fcm", "--service-account", "other.json"], 4, "credential.invalid", "this is not a service account: it has no type"),
                (["wns", "--package-sid", Self.sid], 2, "usage.password", "no client secret: not a terminal"),
                (["wns", "--package-sid", Self.sid, "--client-secret-file", "secret"], 2, "usage.value", "secret is not one line"),
                (["wns", "--package-sid", "x", "--client-secret-file", "junk"], 4, "credential.invalid", "invalid package SID \"x\""),
                (["webpush", "--subject", "me", "--key", "AuthKey_KEY1234567.p8"], 4, "credential.invalid", "the subject of Web Push is"),
                (
                    ["webpush", "--subject", "mailto:ops@localhost", "--generate", "--yes"], 4, "credential.invalid",
                    "has no public host: Apple rejects every push with it (403)"
                ),
                (["webpush", "--subject", "mailto:a@b.example"], 2, "usage.value", "missing option --key or --generate"),
            ]
            for refused in refusals {
                let program = try await hub.command(["hub", "credentials", "set"] + refused.words)
                #expect(program.status == refused.status, "\(refused.words) \(program)")
                #expect(program.errors.contains("error[\(refused.code)]") && program.errors.contains(refused.why), "\(program.errors)")
            }
            #expect(try await hub.command(["hub", "credentials", "show"]).output == before)
        }
    }

    @Test func `A secret can come from standard input, and a password from a file`() async throws {
        try await ServedHub.serving { hub in
            let folder = hub.data.deletingLastPathComponent()
            let files = try SenderFiles(end: SystemClock().now + .seconds(90 * 86_400))
            try Data(files.certificate.utf8).write(to: folder.appending(path: "certificate.pem"))
            try Data(files.key.utf8).write(to: folder.appending(path: "key.pem"))
            let piped = try await BuiltProgram.shell(
                "printf 's3cret' | $P hub credentials set wns --package-sid \(Self.sid) --client-secret-file - --data data", in: folder)
            #expect(piped.status == 0, "\(piped.errors)")
            let run = try await BuiltProgram.shell(
                """
                openssl pkcs12 -export -in certificate.pem -inkey key.pem -out push.p12 -passout pass:secret && echo secret > password
                $P hub credentials set apns --certificate push.p12 --data data < /dev/null; echo $?
                $P hub credentials set apns --certificate push.p12 --password-file password --topic com.example.other --data data; echo $?
                $P hub credentials set apns --certificate push.p12 --password-file password --environment development --data data; echo $?
                $P hub credentials set apns --certificate push.p12 --password-file password --data data
                """, in: folder)
            #expect(run.errors.contains("the PKCS #12 file has a password, and none was given"), "\(run.errors)")
            #expect(run.errors.contains("the certificate is not for com.example.other, but for com.example.app"), "\(run.errors)")
            #expect(run.errors.contains("the certificate is only for production, but notifications go to development"), "\(run.errors)")
            #expect(run.output.hasPrefix("4\n4\n4\n✓ hub hub has a new credential\n"), "\(run.output)")
            #expect(run.output.contains("certificate for com.example.app, production, to api.push.apple.com:443, valid until "))
        }
    }

    // MARK: - Through Azure's interface

    private static func entry(_ credentials: String, _ more: String = "") -> String {
        #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription "#
            + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\#(credentials)\#(more)"#
            + "</NotificationHubDescription></content></entry>"
    }

    private static func wns(_ sid: String, _ secret: String = "s3cret") -> String {
        "<WnsCredential><Properties><Property><Name>PackageSid</Name><Value>\(sid)</Value></Property>"
            + "<Property><Name>SecretKey</Name><Value>\(secret)</Value></Property></Properties></WnsCredential>"
    }

    @Test func `An Azure hub description with an invalid credential is rejected, and the stored one stays`() async throws {
        try await ServedHub.serving { hub in
            func put(_ body: String, _ headers: KeyValuePairs<String, String> = [:]) async throws -> WireAnswer {
                try await hub.call("PUT", "/azure?api-version=2020-06", headers, body: body, by: .root)
            }
            let refused = try await put(Self.entry(Self.wns("me", ServedHub.unspeakable)))
            #expect(refused.status == 400 && refused.body.contains("Invalid package SID \"me\""), "\(refused.body)")
            #expect(refused.body.contains("<Error>") && !refused.body.contains(ServedHub.unspeakable))
            #expect(try await hub.call("GET", "/api/v1/hubs/azure", by: .root).status == 404)
            // Older clients send empty credentials, and credentials of retired platforms.
            let legacy =
                "<ApnsCredential><Properties/></ApnsCredential><GcmCredential><Properties><Property><Name>GoogleApiKey</Name>"
                + "<Value>k</Value></Property></Properties></GcmCredential>"
            #expect(try await put(Self.entry(Self.wns(Self.sid), legacy)).status == 201)
            let worse = try await put(Self.entry(Self.wns("ms-app://x")), ["If-Match": "*"])
            #expect(worse.status == 400, "\(worse.body)")
            let shown = try await hub.command(["hub", "credentials", "show", "azure"])
            #expect(shown.output.contains("client secret for \(Self.sid), the hub's own\n"), "\(shown)")
        }
    }
}
