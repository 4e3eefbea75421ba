import Crypto
import FoundationEssentials
import PushCore
import SwiftASN1

/// The key that signs the provider tokens of a team ("Establishing a token-based connection to APNs").
package struct APNsSigningKey: Sendable, Equatable {
    /// Ten characters, of the developer account.
    package var teamID: String
    /// Ten characters, of the signing key.
    package var keyID: String
    /// The `.p8` file's text: a P-256 key in PKCS #8. Without its first and last line, as Azure takes it, it is understood, too.
    package var privateKey: Secret

    package init(teamID: String, keyID: String, privateKey: Secret) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = privateKey
    }

    /// - Parameter file: PEM, or the same key in DER.
    package init(teamID: String, keyID: String, file: [UInt8]) {
        let text = String(validating: file, as: UTF8.self) ?? Data(file).base64EncodedString()
        self.init(teamID: teamID, keyID: keyID, privateKey: Secret(text))
    }

    /// Whether it signs. Throws `credential.invalid`.
    package func check() throws(PushError) { _ = try signer() }

    /// The key itself. Throws `credential.invalid`, which tells what was handed in instead.
    func signer() throws(PushError) -> P256.Signing.PrivateKey {
        let text = privateKey.reveal()
        let bytes = Array(text.utf8)
        if let document = CredentialText.documents(bytes).first(where: { $0.discriminator.hasSuffix("PRIVATE KEY") }) {
            guard let key = try? P256.Signing.PrivateKey(pemRepresentation: document.pemString) else {
                throw Self.refusal(Self.why(document))
            }
            return key
        }
        if let der = CredentialText.base64(text) {
            guard let key = try? P256.Signing.PrivateKey(derRepresentation: der) else {
                throw Self.refusal(der.first == 0x30 ? Self.why(PEMDocument(type: "PRIVATE KEY", derBytes: der)) : "it is no key")
            }
            return key
        }
        throw Self.refusal(CredentialText.kind(bytes))
    }

    private static func why(_ document: PEMDocument) -> String {
        switch document.discriminator {
        case "ENCRYPTED PRIVATE KEY": return "it has a password, and Apple's has none"
        case "RSA PRIVATE KEY": return "it is an RSA key, and belongs to a certificate"
        default:
            guard let parts = try? BER.parse(document.derBytes).parts, parts.count > 1 else { return "its text is damaged" }
            if parts[0].identifier == .sequence { return "it is a certificate" }
            return switch try? parts[1].part(0).objectIdentifier {
            case [1, 2, 840, 113_549, 1, 1, 1]: "it is an RSA key, and belongs to a certificate"
            case [1, 2, 840, 10045, 2, 1]: "it is of another curve, or damaged"
            case [1, 2, 840, 113_549, 1, 7, 1]: "it is a .p12 file, which holds a certificate"
            case nil: "its text is damaged"
            default: "it is no P-256 key"
            }
        }
    }

    private static func refusal(_ why: String) -> PushError {
        .invalidCredential(
            "the APNs signing key is not a P-256 private key in PKCS #8: \(why)",
            "pass the .p8 file from Apple's developer account, unchanged")
    }
}
