import Foundation
import PushModel
import Support
import Testing

/// A push service in a broadcast over real connections: its names, how a server reaches its simulator, and the handles that the
/// simulator adopts.
struct FanOutService: Sendable, CustomTestStringConvertible {
    let platform: Platform
    /// The name that `pushhost simulate` and its control plane use.
    let word: String
    /// The name used in file names.
    var label: String
    /// A payload with `$(message)` in the place of the text.
    let template: String
    /// Temporary refusals: too many pushes, an internal error, service unavailable.
    let putOffs: (throttled: String, failing: String, unavailable: String)

    var testDescription: String { label }
    /// The name in the log.
    var name: String { platform.displayName }
    /// The name in `GET /credentials`, in the ledger and in reports.
    var account: String { platform.shortName }
    var payload: String { template.replacing("$(message)", with: "Hello") }

    static let apns = FanOutService(
        platform: .apns, word: "apns", label: "apns", template: #"{"aps":{"alert":"$(message)"}}"#,
        putOffs: ("TooManyRequests", "InternalServerError", "ServiceUnavailable"))
    static let fcm = FanOutService(
        platform: .fcmV1, word: "fcm", label: "fcm", template: #"{"message":{"notification":{"body":"$(message)"}}}"#,
        putOffs: ("QUOTA_EXCEEDED", "INTERNAL", "UNAVAILABLE"))
    static let wns = FanOutService(
        platform: .wns, word: "wns", label: "wns",
        template: #"<toast><visual><binding template="ToastGeneric"><text>$(message)</text></binding></visual></toast>"#,
        putOffs: ("Throttled", "InternalServerError", "ServiceUnavailable"))
    static let webPush = FanOutService(
        platform: .browser, word: "webpush", label: "webpush", template: #"{"title":"$(message)"}"#,
        putOffs: ("TooManyRequests", "InternalServerError", "ServiceUnavailable"))

    static let all: [FanOutService] = [.apns, .fcm, .wns, .webPush]

    /// A second Web Push service.
    static let webPushToo: FanOutService = {
        var service = webPush
        service.label = "webpush-too"
        return service
    }()

    /// The server's settings for the simulator on this port. Writes keys into the folder.
    func settings(_ credentials: JSON, port: Int, certificate: String, in folder: ScriptFolder) throws -> [String: String] {
        let account = try #require(credentials[account])
        func text(_ name: String) throws -> String { try #require(account[name]?.string) }
        let address = "https://127.0.0.1:\(port)"
        switch platform {
        case .apns:
            try folder.write("key.p8", Data(try text("private_key").utf8))
            return [
                "PUSHHOST_APNS_KEY": "key.p8", "PUSHHOST_APNS_KEY_ID": try text("key_id"), "PUSHHOST_APNS_TEAM_ID": try text("team_id"),
                "PUSHHOST_APNS_TOPIC": try text("topic"), "PUSHHOST_APNS_ADDRESS": address, "PUSHHOST_APNS_ROOTS": certificate,
            ]
        case .fcmV1:
            try folder.write("account.json", Data(account.serialized()))
            return [
                "PUSHHOST_FCM_SERVICE_ACCOUNT": "account.json", "PUSHHOST_FCM_ADDRESS": address, "PUSHHOST_FCM_ROOTS": certificate,
            ]
        case .wns:
            return [
                "PUSHHOST_WNS_PACKAGE_SID": try text("package_sid"), "PUSHHOST_WNS_CLIENT_SECRET": try text("client_secret"),
                "PUSHHOST_WNS_ADDRESS": address, "PUSHHOST_WNS_ROOTS": certificate,
            ]
        default:
            try folder.write("vapid.pem", Data(try text("private_key").utf8))
            return [
                "PUSHHOST_WEBPUSH_SUBJECT": try text("subject"), "PUSHHOST_WEBPUSH_KEY": "vapid.pem",
                "PUSHHOST_WEBPUSH_ORIGINS": try text("origin"), "PUSHHOST_WEBPUSH_ROOTS": certificate,
            ]
        }
    }

    /// A random handle. All browsers share the keys of RFC 8291, section 5: the recipient makes no difference to the sender's cost.
    func handle(_ random: SeededRandom, port: Int) throws -> DeviceHandle {
        switch platform {
        case .apns: .apns(token: random.hex(64).uppercased())
        case .fcmV1: .fcmV1(token: "\(random.hex(22)):APA91b\(random.hex(134))")
        case .wns: .wns(channel: "https://wns2-db5p.notify.windows.com/?token=AwYAAAD\(random.hex(96))")
        default:
            try DeviceHandle(
                endpoint: "https://localhost:\(port)/wpush/v2/gAAAAA\(random.hex(96))",
                p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                auth: "BTBZMqHH6r4Tts7J_aSIgg")
        }
    }
}
