import Crypto
import PushModel

/// A VAPID key as text, in the formats that tools write: 32 or 65 bytes as base64url or base64, with or without quotes; PEM; base64 of DER.
package struct VAPIDKeyText: Sendable {
    private let text: String
    private var bytes: [UInt8] { Array(text.utf8) }

    package init(_ text: String) { self.text = text }

    /// Whether the text is a key of some kind, rather than a file path.
    package var isKey: Bool {
        if CredentialText.privateKey(bytes) != nil || CredentialText.publicKey(bytes) != nil || text.contains("-----BEGIN ") { return true }
        let count = CredentialText.base64(text)?.count
        return count == 32 || isPublicKey || isHexadecimal
    }

    /// Parses the private key. Throws `credential.invalid`, which says what the text is instead.
    func privateKey() throws(PushError) -> P256.Signing.PrivateKey {
        if let block = CredentialText.privateKey(bytes) {
            if !block.isEncrypted, let key = try? P256.Signing.PrivateKey(derRepresentation: block.bytes) { return key }
        } else if let raw = CredentialText.base64(text), let key = try? P256.Signing.PrivateKey(rawRepresentation: raw) {
            return key
        }
        throw .invalidCredential("the private VAPID key is not a P-256 key: \(form)", "pass 32 bytes in base64url, or PEM")
    }

    /// The public key as 65 bytes in base64url, the form for `applicationServerKey`; `nil` for other text.
    var publicKey: String? {
        let raw = CredentialText.base64(text)
        if isPublicKey { return raw.map { Base64URL.encode($0) } }
        let key: P256.Signing.PublicKey? =
            if let block = CredentialText.publicKey(bytes) {
                try? P256.Signing.PublicKey(derRepresentation: block.bytes)
            } else {
                raw.flatMap { try? P256.Signing.PublicKey(compressedRepresentation: $0) }
            }
        return key.map { Base64URL.encode($0.x963Representation) }
    }

    /// Whether the text decodes to 65 bytes that start like an uncompressed point.
    private var isPublicKey: Bool { CredentialText.base64(text).map { $0.count == 65 && $0[0] == 4 } ?? false }

    /// Whether the text is 32 or 65 bytes in hexadecimal.
    private var isHexadecimal: Bool { [64, 130].contains(text.utf8.count) && text.utf8.allSatisfy(\.isHexadecimalDigit) }

    private var form: String {
        if publicKey != nil { return "it is a public key" }
        if isHexadecimal { return "it is hexadecimal" }
        if CredentialText.privateKey(bytes) == nil, let raw = CredentialText.base64(text) { return "it has \(raw.count) bytes" }
        return CredentialText.keyKind(bytes, otherwise: "it is neither base64 nor PEM")
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
