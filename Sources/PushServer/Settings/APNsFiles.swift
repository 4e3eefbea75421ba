package import Delivery
package import PushModel
import PushRuntime

/// An APNs credential in the operator's files, for hubs without their own.
package struct APNsFiles: CredentialSource, Equatable {
    /// The app's bundle id; nil to use the certificate's.
    var topic: String?
    package var environment: APNsSettings.Environment?
    /// Path of a `.p8` file.
    var key: String?
    var keyID: String?
    var teamID: String?
    /// Path of a `.p12` or PEM file.
    var certificate: String?
    /// Path of the private key in PEM; nil if it is in the certificate's file.
    var certificateKey: String?
    var password: Secret?

    package let kind = PlatformCredential.Kind.apns
    package var isGiven: Bool { key != nil || certificate != nil }
    package var files: [String?] { [key, certificate, certificateKey] }

    /// The setting that names the credential.
    package var setting: String { certificate == nil ? "apns.key" : "apns.certificate" }

    package func sender() throws(PushError) -> SenderSettings { .apns(try settings()) }

    /// Reads the files. Throws `credential.invalid`, which names the file.
    package func settings() throws(PushError) -> APNsSettings {
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
            throw PushError("credential.invalid", "the settings contain no APNs credential", hint: "set apns.*")
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
        Setting("apns.key", .text, "Signing key of APNs (`.p8` file), for hubs without their own APNs credential.") {
            $0.apns.key = $1.text
        },
        Setting("apns.key_id", .text, "Id of the signing key: ten characters.") { $0.apns.keyID = $1.text },
        Setting("apns.team_id", .text, "Id of the team that the signing key belongs to: ten characters.") { $0.apns.teamID = $1.text },
        Setting(
            "apns.certificate", .text, "Certificate of APNs in place of a signing key: a `.p12` file, or PEM."
        ) { $0.apns.certificate = $1.text },
        Setting("apns.certificate_key", .text, "Its private key in PEM, if that is in a separate file.") {
            $0.apns.certificateKey = $1.text
        },
        Setting("apns.password", .text, "Password of the `.p12` file, or of the private key. Best given as `PUSHHOST_APNS_PASSWORD`.") {
            $0.apns.password = Secret($1.text)
        },
        Setting("apns.topic", .text, "Bundle id of the app; by default that of the certificate.") { $0.apns.topic = $1.text },
        Setting(
            "apns.environment", .choice(APNsSettings.Environment.allCases.map(\.rawValue)),
            "Environment in which the app's devices are registered; by default that of the certificate, or else production."
        ) { $0.apns.environment = APNsSettings.Environment(rawValue: $1.text) },
    ]
}

extension APNsFiles {
    /// Settings that are incomplete or contradict each other.
    var contradictions: [String] {
        var faults: [String] = []
        if key != nil, certificate != nil { faults.append("apns.key and apns.certificate cannot be combined: set one of them") }
        let needed = [("apns.key_id", keyID), ("apns.team_id", teamID), ("apns.topic", topic)].filter { $0.1 == nil }.map(\.0)
        if key != nil, certificate == nil, !needed.isEmpty { faults.append("apns.key also needs \(needed.joined(separator: ", "))") }
        if key == nil, certificate == nil, self != APNsFiles() {
            faults.append("apns.* is set without a credential: set apns.key or apns.certificate")
        }
        if certificateKey != nil, certificate == nil { faults.append("apns.certificate_key belongs to apns.certificate: set both") }
        return faults
    }
}
