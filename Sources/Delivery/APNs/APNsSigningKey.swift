import Crypto
import PushCore
import SwiftASN1

/// The key that signs the provider tokens of a team ("Establishing a token-based connection to APNs").
package struct APNsSigningKey: Sendable, Equatable {
    /// Ten characters, of the developer account.
    package var teamID: String
    /// Ten characters, of the signing key.
    package var keyID: String
    /// The `.p8` file's text: a P-256 key in PKCS #8, in PEM, or in base64 alone, as Azure takes it.
    package var privateKey: Secret

    package init(teamID: String, keyID: String, privateKey: Secret) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = privateKey
    }

    /// - Parameter file: PEM, or the same key in DER.
    package init(teamID: String, keyID: String, file: [UInt8]) {
        self.init(teamID: teamID, keyID: keyID, privateKey: Secret(CredentialText.text(ofFile: file)))
    }

    /// Whether it signs. Throws `credential.invalid`.
    package func check() throws(PushError) { _ = try signer() }

    /// The key itself. Throws `credential.invalid`, which tells what was handed in instead.
    func signer() throws(PushError) -> P256.Signing.PrivateKey {
        let bytes = Array(privateKey.reveal().utf8)
        guard let block = CredentialText.privateKey(bytes) else { throw Self.refusal(CredentialText.kind(bytes)) }
        guard !block.isEncrypted, let key = try? P256.Signing.PrivateKey(derRepresentation: block.bytes) else {
            throw Self.refusal(Self.why(block))
        }
        return key
    }

    private static func why(_ block: PEMBlock) -> String {
        if block.isEncrypted { return "it has a password, and Apple's has none" }
        if block.label == "RSA PRIVATE KEY" { return "it is an RSA key, and belongs to a certificate" }
        guard let parts = try? BER.parse(block.bytes).parts, parts.count > 1 else { return "its text is damaged" }
        if parts[0].identifier == .sequence { return parts.count == 2 ? "it is a public key" : "it is a certificate" }
        return switch try? parts[1].part(0).objectIdentifier {
        case [1, 2, 840, 113_549, 1, 1, 1]: "it is an RSA key, and belongs to a certificate"
        case [1, 2, 840, 10045, 2, 1]: "it is of another curve, or damaged"
        case [1, 2, 840, 113_549, 1, 7, 1]: "it is a .p12 file, which holds a certificate"
        case nil: "its text is damaged"
        default: "it is no P-256 key"
        }
    }

    private static func refusal(_ why: String) -> PushError {
        .invalidCredential(
            "the APNs signing key is not a P-256 private key in PKCS #8: \(why)",
            "pass the .p8 file from Apple's developer account, unchanged")
    }
}
