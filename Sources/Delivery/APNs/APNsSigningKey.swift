import Crypto
package import PushModel
import SwiftASN1

/// The key that signs the provider tokens of a team ("Establishing a token-based connection to APNs").
package struct APNsSigningKey: Sendable, Equatable {
    /// The team's id in the developer account: ten characters.
    package var teamID: String
    /// The key's id: ten characters.
    package var keyID: String
    /// The text of the `.p8` file: a P-256 key in PKCS #8, as PEM or, as Azure accepts it, as bare base64.
    package var privateKey: Secret

    package init(teamID: String, keyID: String, privateKey: Secret) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = privateKey
    }

    /// - Parameter file: A PEM file, or the same key as DER.
    package init(teamID: String, keyID: String, file: [UInt8]) {
        self.init(teamID: teamID, keyID: keyID, privateKey: Secret(CredentialText.text(ofFile: file)))
    }

    /// Checks that the key can sign. Throws `credential.invalid`.
    package func check() throws(PushError) { _ = try signer() }

    /// Parses the key. Throws `credential.invalid`, which says what the text is instead.
    func signer() throws(PushError) -> P256.Signing.PrivateKey {
        let bytes = Array(privateKey.reveal().utf8)
        guard let block = CredentialText.privateKey(bytes) else { throw Self.refusal(CredentialText.kind(bytes)) }
        guard !block.isEncrypted, let key = try? P256.Signing.PrivateKey(derRepresentation: block.bytes) else {
            throw Self.refusal(Self.why(block))
        }
        return key
    }

    private static func why(_ block: PEMBlock) -> String {
        if block.isEncrypted { return "it has a password; Apple's keys have none" }
        if block.label == "RSA PRIVATE KEY" { return "it is an RSA key, and belongs to a certificate" }
        guard let parts = try? BER.parse(block.bytes).parts, parts.count > 1 else { return "its text is damaged" }
        if parts[0].identifier == .sequence { return parts.count == 2 ? "it is a public key" : "it is a certificate" }
        return switch try? parts[1].part(0).objectIdentifier {
        case [1, 2, 840, 113_549, 1, 1, 1]: "it is an RSA key, and belongs to a certificate"
        case [1, 2, 840, 10045, 2, 1]: "it is a key on another curve, or damaged"
        case [1, 2, 840, 113_549, 1, 7, 1]: "it is a .p12 file, which contains a certificate"
        case nil: "its text is damaged"
        default: "it is not a P-256 key"
        }
    }

    private static func refusal(_ why: String) -> PushError {
        .invalidCredential(
            "the APNs signing key is not a P-256 private key in PKCS #8: \(why)",
            "pass the .p8 file from Apple's developer account, unchanged")
    }
}
