import Delivery
import FoundationEssentials
import PushCore

extension PlatformCredential {
    /// What Azure's `ApnsCredential` says: `AppId` (the team), `AppName` (the bundle id), `KeyId` and `Token` (the signing key), or
    /// `ApnsCertificate` (base64 of a PKCS #12 file) and `CertificateKey` (its password). `Endpoint` tells the environment. Throws
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
            let identity = try ClientIdentity(pkcs12: Array(file), password: self["CertificateKey"] ?? Secret(""))
            return try APNsSettings(certificate: APNsCertificate(identity), topic: filled("AppName"), environment: environment)
        }
        return APNsSettings(
            teamID: try text("AppId", "APNs"), keyID: try text("KeyId", "APNs"), privateKey: try secret("Token", "APNs"),
            topic: try text("AppName", "APNs"), environment: environment ?? .production)
    }

    private func filled(_ name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0.reveal() }
    }

    func secret(_ name: String, _ service: String) throws(PushError) -> Secret {
        guard let value = self[name], !value.isEmpty else {
            throw PushError(
                "credential.invalid", "the hub's credential for \(service) has no \(name)", hint: "update the hub with all of it")
        }
        return value
    }

    func text(_ name: String, _ service: String) throws(PushError) -> String { try secret(name, service).reveal() }
}
