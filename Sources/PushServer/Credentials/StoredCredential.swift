import Delivery
import FoundationEssentials
import PushModel
import PushRuntime

/// Converts the stored properties of a hub's credential to the settings of its sender.
struct StoredCredential: Sendable {
    private let credential: PlatformCredential

    init(_ credential: PlatformCredential) { self.credential = credential }

    /// Throws `credential.invalid`, also for kinds that PushHost does not send with.
    func settings(_ kind: PlatformCredential.Kind) throws(PushError) -> SenderSettings {
        switch kind {
        case .apns: .apns(try apnsSettings())
        case .fcmV1: .fcm(try fcmSettings())
        case .wns:
            .wns(WNSSettings(packageSID: try text("PackageSid", "WNS"), clientSecret: try secret("SecretKey", "WNS")))
        case .browser:
            .webPush(
                WebPushSettings(
                    subject: try text("Subject", "Web Push"), publicKey: try text("VapidPublicKey", "Web Push"),
                    privateKey: try secret("VapidPrivateKey", "Web Push")))
        case .gcm, .mpns, .adm, .baidu:
            throw PushError("credential.invalid", "credentials of \(kind.rawValue) are not supported for sending", status: 400)
        }
    }

    /// Azure's `FcmV1Credential` has `ProjectId`, `ClientEmail` and `PrivateKey`; PushHost adds `PrivateKeyId` and `TokenUri`.
    private func fcmSettings() throws(PushError) -> FCMSettings {
        FCMSettings(
            projectID: try text("ProjectId", "FCM"), clientEmail: try text("ClientEmail", "FCM"), privateKeyID: filled("PrivateKeyId"),
            privateKey: try secret("PrivateKey", "FCM"), tokenURI: filled("TokenUri") ?? FCMSettings.tokenURI)
    }

    /// Azure's `ApnsCredential` has `AppId` (the team), `AppName` (the bundle id), `KeyId` and `Token` (the signing key), or
    /// `ApnsCertificate` (a PKCS #12 file in base64) and `CertificateKey` (its password). `Endpoint` gives the environment. Throws
    /// `credential.invalid`.
    func apnsSettings() throws(PushError) -> APNsSettings {
        let endpoint = filled("Endpoint")?.lowercased()
        let environment: APNsSettings.Environment? = endpoint.map {
            $0.contains("sandbox") || $0.contains("development") ? .development : .production
        }
        if let certificate = filled("ApnsCertificate") {
            guard let file = Data(base64Encoded: certificate.filter { !$0.isWhitespace }) else {
                throw PushError(
                    "credential.invalid", "the hub's ApnsCertificate is not base64", hint: "encode the .p12 file: base64 -w0 FILE",
                    status: 400)
            }
            let identity = try ClientIdentity(pkcs12: Array(file), password: credential["CertificateKey"] ?? Secret(""))
            return try APNsSettings(certificate: APNsCertificate(identity), topic: filled("AppName"), environment: environment)
        }
        return APNsSettings(
            teamID: try text("AppId", "APNs"), keyID: try text("KeyId", "APNs"), privateKey: try secret("Token", "APNs"),
            topic: try text("AppName", "APNs"), environment: environment ?? .production)
    }

    private func filled(_ name: String) -> String? {
        credential[name].flatMap { $0.isEmpty ? nil : $0.reveal() }
    }

    private func secret(_ name: String, _ service: String) throws(PushError) -> Secret {
        guard let value = credential[name], !value.isEmpty else {
            throw PushError(
                "credential.invalid", "the hub's credential for \(service) has no \(name)",
                hint: "update the hub with the complete credential", status: 400)
        }
        return value
    }

    private func text(_ name: String, _ service: String) throws(PushError) -> String { try secret(name, service).reveal() }
}
