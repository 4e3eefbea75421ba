import Delivery
import PushModel
import PushRuntime

/// A request of the JSON API to store a hub's credential.
struct CredentialRequest: Sendable {
    private let platform: Platform
    private let body: JSONObject

    init(_ platform: Platform, _ body: JSONObject) { (self.platform, self.body) = (platform, body) }

    /// The credential, under Azure's property names. Throws `credential.invalid`.
    func credential() throws(PushError) -> PlatformCredential {
        func text(_ name: String) -> String? { body[name]?.string }
        var properties: [(String, String?)]
        switch platform {
        case .apns:
            properties = [
                ("Token", text("key")), ("KeyId", text("keyId")), ("AppId", text("teamId")), ("ApnsCertificate", text("certificate")),
                ("CertificateKey", text("password")), ("AppName", text("topic")),
                ("Endpoint", text("environment").flatMap { APNsSettings.Environment(rawValue: $0) }?.endpoint),
            ]
        case .fcmV1:
            let file = body["serviceAccount"].map { $0.string.map { Array($0.utf8) } ?? $0.serialized() } ?? []
            let account = try FCMSettings(serviceAccount: file)
            properties = [
                ("ProjectId", account.projectID), ("ClientEmail", account.clientEmail), ("PrivateKey", account.privateKey.reveal()),
                ("PrivateKeyId", account.privateKeyID),
                ("TokenUri", account.tokenURI == FCMSettings.tokenURI ? nil : account.tokenURI),
            ]
        case .wns: properties = [("PackageSid", text("packageSid")), ("SecretKey", text("clientSecret"))]
        case .browser:
            let settings = try WebPushSettings(subject: text("subject") ?? "", privateKey: Secret(text("privateKey") ?? ""))
            properties = [
                ("Subject", settings.subject), ("VapidPublicKey", settings.publicKey), ("VapidPrivateKey", settings.privateKey.reveal()),
            ]
        case .gcm, .mpns, .adm, .baidu, .xiaomi: properties = []
        }
        return PlatformCredential(properties: properties.compactMap { name, value in value.map { (name, Secret($0)) } })
    }
}

extension APNsSettings.Environment {
    /// The endpoint that Azure's clients write.
    fileprivate var endpoint: String {
        switch self {
        case .production: "https://api.push.apple.com:443/3/device"
        case .development: "https://api.development.push.apple.com:443/3/device"
        }
    }
}
