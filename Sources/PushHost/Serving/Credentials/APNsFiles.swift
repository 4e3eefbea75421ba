import Delivery
import PushCore

/// An APNs credential in files of the operator, for hubs that have none of their own.
struct APNsFiles: CredentialSource, Equatable {
    /// The app's bundle id; a certificate may tell it by itself.
    var topic: String?
    var environment: APNsSettings.Environment?
    /// A `.p8` file.
    var key: String?
    var keyID: String?
    var teamID: String?
    /// A `.p12` file, or PEM.
    var certificate: String?
    /// PEM; nil where it is in the file of the certificate.
    var certificateKey: String?
    var password: Secret?

    let kind = PlatformCredential.Kind.apns
    var isGiven: Bool { key != nil || certificate != nil }
    var files: [String?] { [key, certificate, certificateKey] }

    /// The setting that names the credential.
    var setting: String { certificate == nil ? "apns.key" : "apns.certificate" }

    func sender() throws(PushError) -> SenderSettings { .apns(try settings()) }

    /// What it is, with what the files hold now. Throws `credential.invalid`, which names the file.
    func settings() throws(PushError) -> APNsSettings {
        if let certificate {
            do throws(PushError) {
                return try APNsSettings(
                    certificate: APNsCertificate(try identity(try CredentialFile.read(certificate))), topic: topic, environment: environment
                )
            } catch {
                throw CredentialFile.fault(certificate, error)
            }
        }
        guard let key, let keyID, let teamID, let topic else {
            throw PushError("credential.invalid", "there is no APNs credential in the settings", hint: "see apns.* in the settings")
        }
        do throws(PushError) {
            let own = APNsSigningKey(teamID: teamID, keyID: keyID, file: try CredentialFile.read(key))
            try own.check()
            return APNsSettings(authentication: .token(own), topic: topic, environment: environment ?? .production)
        } catch {
            throw CredentialFile.fault(key, error)
        }
    }

    private func identity(_ file: [UInt8]) throws(PushError) -> ClientIdentity {
        guard certificateKey == nil, PEMText(file).blocks.isEmpty else {
            return try ClientIdentity(certificates: file, key: try certificateKey.map(CredentialFile.read), password: password)
        }
        return try ClientIdentity(pkcs12: file, password: password ?? Secret(""))
    }
}

extension ServerSettings {
    static let apnsSettings: [Setting] = [
        Setting("apns.key", .text, "Signing key of APNs (`.p8` file), for hubs that have no APNs credential of their own.") {
            $0.apns.key = $1.text
        },
        Setting("apns.key_id", .text, "Id of the signing key: ten characters.") { $0.apns.keyID = $1.text },
        Setting("apns.team_id", .text, "Id of the team that the signing key belongs to: ten characters.") { $0.apns.teamID = $1.text },
        Setting(
            "apns.certificate", .text, "Certificate of APNs in place of a signing key: a `.p12` file, or PEM."
        ) { $0.apns.certificate = $1.text },
        Setting("apns.certificate_key", .text, "Its private key in PEM, where that is in a file of its own.") {
            $0.apns.certificateKey = $1.text
        },
        Setting("apns.password", .text, "Password of the `.p12` file, or of the private key. Best given as `PUSHHOST_APNS_PASSWORD`.") {
            $0.apns.password = Secret($1.text)
        },
        Setting("apns.topic", .text, "The app's bundle id; by default that of the certificate.") { $0.apns.topic = $1.text },
        Setting(
            "apns.environment", .choice(APNsSettings.Environment.allCases.map(\.rawValue)),
            "Where the app's devices are registered; by default what the certificate says, or else production."
        ) { $0.apns.environment = APNsSettings.Environment(rawValue: $1.text) },
    ]
}

extension APNsFiles {
    /// What does not go together.
    var contradictions: [String] {
        var faults: [String] = []
        if key != nil, certificate != nil { faults.append("apns.key and apns.certificate exclude each other: give one of them") }
        let needed = [("apns.key_id", keyID), ("apns.team_id", teamID), ("apns.topic", topic)].filter { $0.1 == nil }.map(\.0)
        if key != nil, certificate == nil, !needed.isEmpty { faults.append("apns.key needs \(needed.joined(separator: ", ")) beside it") }
        if key == nil, certificate == nil, self != APNsFiles() {
            faults.append("apns.* is given without a credential: give apns.key or apns.certificate")
        }
        if certificateKey != nil, certificate == nil { faults.append("apns.certificate_key belongs to apns.certificate: give both") }
        return faults
    }
}
