import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// A hub that sends to FCM, WNS and Web Push with credentials, over the addresses in the settings.
@Suite struct ServiceAddressTests {
    private static func settings(_ simulator: SimulatorProgram) async throws -> [String: String] {
        let credentials = try await simulator.control("GET", "/credentials")
        func text(_ service: String, _ name: String) throws -> String { try #require(credentials[service]?[name]?.string) }
        let (address, roots) = ("https://127.0.0.1:\(simulator.port)", simulator.certificate)
        try simulator.folder.write("account.json", Data(try #require(credentials["fcm"]).serialized()))
        try simulator.folder.write("vapid.pem", Data(try text("browser", "private_key").utf8))
        return [
            "PUSHHOST_FCM_SERVICE_ACCOUNT": simulator.folder.url.appending(path: "account.json").path,
            "PUSHHOST_FCM_ADDRESS": address, "PUSHHOST_FCM_ROOTS": roots, "PUSHHOST_WNS_PACKAGE_SID": try text("wns", "package_sid"),
            "PUSHHOST_WNS_CLIENT_SECRET": try text("wns", "client_secret"), "PUSHHOST_WNS_ADDRESS": address,
            "PUSHHOST_WNS_ROOTS": roots, "PUSHHOST_WNS_CHANNEL_HOSTS": "localhost:\(simulator.port)",
            "PUSHHOST_WEBPUSH_SUBJECT": try text("browser", "subject"),
            "PUSHHOST_WEBPUSH_KEY": simulator.folder.url.appending(path: "vapid.pem").path,
            "PUSHHOST_WEBPUSH_ORIGINS": try text("browser", "origin"), "PUSHHOST_WEBPUSH_ROOTS": roots,
        ]
    }

    /// Creates a phone in the simulator and returns the channel for its installation.
    private func phone(_ number: Int, _ platform: String, _ simulator: SimulatorProgram) async throws -> JSON {
        let phone = try await simulator.control("POST", "/phones", #"{"name": "\#(platform)-\#(number)", "platform": "\#(platform)"}"#)
        guard platform == "browser" else { return try #require(phone["handle"]) }
        let subscription = try #require(phone["subscription"])
        return [
            "endpoint": try #require(subscription["endpoint"]), "p256dh": try #require(subscription["keys"]?["p256dh"]),
            "auth": try #require(subscription["keys"]?["auth"]),
        ]
    }

    @Test(arguments: [
        ("fcm", "fcmV1", #"{"message":{"notification":{"title":"News","body":"Hello"}}}"#),
        ("wns", "wns", #"<toast><visual><binding template="ToastGeneric"><text>Hello</text></binding></visual></toast>"#),
        ("browser", "browser", #"{"title":"News","body":"Hello"}"#),
    ])
    func `phones behind the configured addresses get what the hub sends`(
        service: String, platform: String, body: String
    ) async throws {
        let simulator = try await SimulatorProgram(serving: "all")
        try await ServedHub.serving(settings: try await Self.settings(simulator)) { hub in
            for number in 1...5 {
                let channel = try await phone(number, service, simulator)
                let installation: JSON = [
                    "installationId": .string("phone-\(number)"), "platform": .string(platform), "pushChannel": channel,
                ]
                let put = try await hub.call(
                    "PUT", "/hub/installations/phone-\(number)?api-version=2020-06",
                    body: String(decoding: installation.serialized(), as: UTF8.self))
                #expect(put.status == 200, "\(put)")
            }
            try simulator.folder.write("body", Data(body.utf8))
            let file = simulator.folder.url.appending(path: "body").path
            let sent = try await hub.command(["send", "--native", service, file, "--broadcast", "--yes"])
            #expect(sent.status == 0, "\(sent.output)\(sent.errors)")
            for number in 1...5 {
                let inbox = try await simulator.control("GET", "/phones/\(service)-\(number)")["inbox"]?.array ?? []
                #expect(inbox.count == 1, "\(sent.output)\(sent.errors)")
            }
        }
        #expect(await simulator.end().status == 0)
    }
}
