import Crypto
import CryptoExtras
import Delivery
import PushCore

/// Keys and accounts that exist in these tests only.
enum Accounts {
    static let signingKey = P256.Signing.PrivateKey()

    static let apns = APNsSettings(
        teamID: "TEAM123456", keyID: "KEY1234567", privateKey: Secret(signingKey.pemRepresentation),
        topic: "com.example.app")

    static let fcm = FCMSettings(
        projectID: "demo-project", clientEmail: "push@demo-project.iam.gserviceaccount.com",
        privateKeyID: "f00dfeed", privateKey: Secret(rsaKey))

    static let wns = WNSSettings(packageSID: "ms-app://s-1-15-2-1234", clientSecret: Secret("very secret/+&="))

    static let start = Timestamp(seconds: 1_767_600_000)

    /// Made anew for every run of the tests; empty if that fails, and then nothing can be signed.
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

extension Verdict {
    /// The rejection inside, if there is one.
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
