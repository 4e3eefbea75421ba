import Crypto
import CryptoExtras
import Delivery
import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// A hub that uses the settings' APNs credential, and the address that its pushes go to.
@Suite struct SettingsCredentialTests {
    private static func settings(_ key: URL, _ more: [String: String]) -> [String: String] {
        [
            "PUSHHOST_APNS_KEY": key.path, "PUSHHOST_APNS_KEY_ID": "KEY1234567", "PUSHHOST_APNS_TEAM_ID": "TEAM123456",
            "PUSHHOST_APNS_TOPIC": "com.example.app", "PUSHHOST_APNS_ENVIRONMENT": "development",
        ].merging(more) { $1 }
    }

    private func folder() throws -> (folder: ScriptFolder, key: URL) {
        let folder = try ScriptFolder(["AuthKey.p8": P256.Signing.PrivateKey().pemRepresentation])
        return (folder, folder.url.appending(path: "AuthKey.p8"))
    }

    @Test func `The credential is shown with the hub and checked by the doctor, and messages name its address`() async throws {
        let (folder, key) = try folder()
        let apns = try await SimulatorProgram()
        let place = "127.0.0.1:\(apns.port)"
        let settings = Self.settings(
            key, ["PUSHHOST_APNS_ADDRESS": "https://\(place)", "PUSHHOST_APNS_ROOTS": apns.certificate, "PUSHHOST_LOG_LEVEL": "warning"])
        try await ServedHub.serving(settings: settings) { hub in
            let shown = try await hub.command(["hub", "show"])
            #expect(shown.output.contains("push services           apns\n"), "\(shown.output)\(shown.errors)")
            #expect(
                shown.output.contains("APNs: token for com.example.app, development, to \(place), from the settings (apns.key)\n"),
                "\(shown.output)")
            let json = try #require(try JSON(parsing: try await hub.command(["hub", "show", "--json"]).output)["result"])
            let credential: JSON = [
                "platform": "apns", "source": "settings", "setting": "apns.key", "kind": "token", "topic": "com.example.app",
                "environment": "development", "address": .string(place),
            ]
            #expect(json["pushServices"] == ["apns"] && json["credentials"] == [credential], "\(json)")
            #expect(try await hub.command(["hub", "list"]).output.contains("apns"))

            let well = try await hub.command(["doctor"], environment: settings).output
            #expect(well.contains("✓ APNs          settings: token for com.example.app, development\n"), "\(well)")
            #expect(well.contains("✓ APNs          https://\(place) is reachable\n"), "\(well)")

            _ = await apns.end()
            let broken = try await hub.command(["doctor"], environment: settings)
            #expect(
                broken.status == 1 && broken.output.contains("✗ APNs          https://\(place) is not reachable\n"), "\(broken.output)")
            #expect(broken.output.contains("check what listens at apns.address"), "\(broken.output)")
            for number in 1...20 {
                let handle = String(repeating: "0", count: 56) + String(10_000_000 + number)
                let body = #"{"installationId": "pad-\#(number)", "platform": "apns", "pushChannel": "\#(handle)"}"#
                #expect(try await hub.call("PUT", "/hub/installations/pad-\(number)?api-version=2020-06", body: body).status == 200)
            }
            let accepted = try await hub.call(
                "POST", "/hub/messages?api-version=2020-06",
                ["ServiceBusNotification-Format": "apple", "Content-Type": "application/json"],
                body: #"{"aps":{"alert":"Hi"}}"#)
            #expect(accepted.status == 201)
            let log = try await hub.hear("APNs does not respond")
            #expect(log.contains("hub \"hub\": APNs fails all deliveries: Unreachable: \(place) could not be reached"), "\(log)")
            #expect(!log.contains("push.apple.com"), "\(log)")
            let doctor = try await hub.command(["doctor"], environment: settings).output
            #expect(doctor.contains("hub hub: APNs (\(place)) does not respond; next attempt at "), "\(doctor)")
            #expect(try await hub.command(["hub", "show"]).output.contains("APNs: \(place) does not respond; next attempt at "))
        }
        _ = folder
    }

    @Test func `Without a server the doctor checks the configured address, and unusable files are reported`() async throws {
        let (folder, key) = try folder()
        let port = try FreePort.any()
        let settings = Self.settings(key, ["PUSHHOST_APNS_ADDRESS": "https://127.0.0.1:\(port)"])
        let doctor = try await BuiltProgram.run(["doctor", "--data", "data"], in: folder.url, environment: settings).output
        #expect(doctor.contains("✗ APNs          https://127.0.0.1:\(port) is not reachable\n"), "\(doctor)")
        try folder.write("AuthKey.p8", Data("nothing".utf8))
        try await ServedHub.serving(settings: settings.merging(["PUSHHOST_LOG_LEVEL": "error"]) { $1 }) { hub in
            let shown = try await hub.command(["hub", "show"]).output
            #expect(
                shown.contains("APNs: from the settings (apns.key); apns.key cannot be used; for the reason run pushhost doctor\n"),
                "\(shown)")
            #expect(!shown.contains("AuthKey"))
        }
    }

    @Test func `A server uses the credentials of its settings, reports them, and refuses sends with an invalid one`() async throws {
        let key = P256.Signing.PrivateKey()
        let account: JSON = [
            "type": "service_account", "project_id": "demo-project", "client_email": "hub@demo-project.iam.gserviceaccount.com",
            "private_key": .string(try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation),
        ]
        let folder = try ScriptFolder(["account.json": account.text(), "secret": "two words"])
        func path(_ name: String) -> String { folder.url.appending(path: name).path }
        let settings = [
            "PUSHHOST_FCM_SERVICE_ACCOUNT": path("account.json"), "PUSHHOST_WNS_PACKAGE_SID": "ms-app://s-1-15-2-1-2-3-4-5-6-7",
            "PUSHHOST_WNS_CLIENT_SECRET_FILE": path("secret"), "PUSHHOST_WEBPUSH_SUBJECT": "mailto:ops@example.com",
            "PUSHHOST_WEBPUSH_KEY": Base64URL.encode(key.rawRepresentation),
        ]
        try await ServedHub.serving(settings: settings.merging(["PUSHHOST_LOG_LEVEL": "notice"]) { $1 }) { hub in
            let shown = try await hub.command(["hub", "credentials", "show"]).output
            let address = "hub@demo-project.iam.gserviceaccount.com"
            #expect(
                shown.contains("service account \(address) for the project demo-project, to fcm.googleapis.com, from the settings"),
                "\(shown)")
            #expect(
                shown.contains("WNS       from the settings (wns.package_sid); wns.package_sid cannot be used"), "\(shown)")
            #expect(shown.contains("\n  \(Base64URL.encode(key.publicKey.x963Representation))\n"), "\(shown)")
            let own = try await hub.command(["hub", "credentials", "remove", "fcm", "--yes"])
            #expect(own.errors.contains("those from the server's settings are changed in the settings"), "\(own)")

            let doctor = try await hub.command(["doctor"], environment: settings).output
            #expect(doctor.contains("✓ FCM           settings: service account \(address) for the project demo-project\n"), "\(doctor)")
            #expect(doctor.contains("✗ WNS           the client secret contains whitespace"), "\(doctor)")
            #expect(doctor.contains("✓ Web Push      settings: VAPID key "), "\(doctor)")
            let metrics = try await hub.call("GET", "/metrics", by: nil).body
            #expect(metrics.contains(#"pushhost_credential_usable{hub="hub",platform="wns"} 0"#), "\(metrics)")

            let installation = #"{"installationId": "w", "platform": "wns", "pushChannel": "https://db3.notify.windows.com/?token=t"}"#
            #expect(try await hub.call("PUT", "/hub/installations/w?api-version=2020-06", body: installation).status == 200)
            let sent = try await hub.command(["send", "--native", "wns", path("secret"), "--broadcast", "--yes"])
            #expect(sent.output.contains("InvalidCredentials") && sent.output.contains("credential.invalid"), "\(sent)")
            try await hub.hear("hub \"hub\": WNS fails all deliveries: credential.invalid: the client secret contains whitespace")
        }
    }
}
