import Crypto
import CryptoExtras
import Delivery
import PushModel

/// Keys and accounts for these tests only.
enum Accounts {
    static let signingKey = P256.Signing.PrivateKey()

    static let apns = APNsSettings(
        teamID: "TEAM123456", keyID: "KEY1234567", privateKey: Secret(signingKey.pemRepresentation),
        topic: "com.example.app")

    static let fcm = FCMSettings(
        projectID: "demo-project", clientEmail: "push@demo-project.iam.gserviceaccount.com",
        privateKeyID: "f00dfeed", privateKey: Secret(rsaKey))

    static let wns = WNSSettings(packageSID: "ms-app://s-1-15-2-1234", clientSecret: Secret("very secret/+&="))

    static let applicationServerKey = P256.Signing.PrivateKey()

    static let webPush = WebPushSettings(
        subject: "mailto:push@example.com",
        publicKey: Base64URL.encode(applicationServerKey.publicKey.x963Representation),
        privateKey: Secret(Base64URL.encode(applicationServerKey.rawRepresentation)))

    static let start = Timestamp(seconds: 1_767_600_000)

    /// Created for every test run; empty if that fails, and then nothing can be signed.
    private static let rsaKey = (try? _RSA.Signing.PrivateKey(keySize: .bits2048))?.pkcs8PEMRepresentation ?? ""
}

extension DeliveryBatch {
    static func apns(
        _ body: String = #"{"aps":{"alert":"Hi"}}"#, headers: [PushHeader] = [], options: PushOptions = PushOptions(),
        tokens: [String] = ["00FC13ADFF78"]
    ) -> DeliveryBatch {
        DeliveryBatch(
            notificationID: "n1", platform: .apns, body: Array(body.utf8), headers: headers, options: options,
            handles: tokens.map { .apns(token: $0) })
    }

    static func fcm(
        _ body: String = #"{"message":{"data":{"a":"1"}}}"#, options: PushOptions = PushOptions(),
        tokens: [String] = ["tok:1"]
    ) -> DeliveryBatch {
        DeliveryBatch(
            notificationID: "n1", platform: .fcmV1, body: Array(body.utf8), options: options,
            handles: tokens.map { .fcmV1(token: $0) })
    }

    static func gcm(_ body: String, options: PushOptions = PushOptions()) -> DeliveryBatch {
        DeliveryBatch(
            notificationID: "n1", platform: .gcm, body: Array(body.utf8), options: options,
            handles: [.gcm(token: "tok:1")])
    }

    static func wns(
        _ body: String = "<toast/>", headers: [PushHeader] = [], options: PushOptions = PushOptions(),
        channels: [String] = ["https://db5.notify.windows.com/?token=AwYAAAB%2b"]
    ) -> DeliveryBatch {
        DeliveryBatch(
            notificationID: "n1", platform: .wns, body: Array(body.utf8), headers: headers, options: options,
            handles: channels.map { .wns(channel: $0) })
    }
}

extension DeliveryBatch {
    /// The browser of RFC 8291, section 5.
    static let p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let auth = "BTBZMqHH6r4Tts7J_aSIgg"

    static func browser(
        _ body: String = #"{"title":"Hi"}"#, headers: [PushHeader] = [], options: PushOptions = PushOptions(),
        endpoints: [String] = ["https://push.example.com/p/1"], p256dh: String = p256dh
    ) -> DeliveryBatch {
        DeliveryBatch(
            notificationID: "n1", platform: .browser, body: Array(body.utf8), headers: headers, options: options,
            handles: endpoints.map { .browser(endpoint: $0, p256dh: p256dh, auth: auth) })
    }
}

extension Verdict {
    /// The rejection, if the verdict is one.
    var rejection: Rejection? {
        switch self {
        case .rejected(let rejection), .transient(let rejection, _): rejection
        case .accepted, .unknown: nil
        }
    }

    var isTransient: Bool { if case .transient = self { true } else { false } }

    var isRejected: Bool { if case .rejected = self { true } else { false } }

    var retryAfter: Duration? { if case .transient(_, let wait) = self { wait } else { nil } }
}
