import FoundationEssentials
import PushModel

/// Reads credential files and texts leniently: PEM in any layout, DER, and base64 of either.
package enum CredentialText {
    private static let largest = 1 << 20

    /// The blocks of a PEM text; empty for other text.
    static func blocks(_ bytes: [UInt8]) -> [PEMBlock] { bytes.count <= largest ? PEMText(bytes).blocks : [] }

    /// The first private key in PEM, DER, or base64 of either. The label of a DER key does not tell its kind.
    static func privateKey(_ bytes: [UInt8]) -> PEMBlock? { document(bytes, labelled: "PRIVATE KEY") }

    /// All private keys of a PEM text, or a single key in another format.
    static func privateKeys(_ bytes: [UInt8]) -> [PEMBlock] {
        let keys = blocks(bytes).filter(\.isPrivateKey)
        return keys.isEmpty ? [privateKey(bytes)].compactMap(\.self) : keys
    }

    /// The first public key in PEM, DER, or base64 of either.
    static func publicKey(_ bytes: [UInt8]) -> PEMBlock? { document(bytes, labelled: "PUBLIC KEY") }

    private static func document(_ bytes: [UInt8], labelled label: String) -> PEMBlock? {
        let inner = isDER(bytes) ? bytes : base64(bytes) ?? []
        if isDER(inner) { return PEMBlock(label: label, bytes: inner) }
        return (blocks(bytes) + blocks(inner)).first { $0.label.hasSuffix(label) }
    }

    /// Whether the bytes are exactly one DER SEQUENCE. Text may start with the same byte.
    private static func isDER(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 40, bytes.count <= largest, bytes[0] == 0x30 else { return false }
        return switch bytes[1] {
        case 0..<0x80: bytes.count == 2 + Int(bytes[1])
        case 0x81: bytes.count == 3 + Int(bytes[2])
        case 0x82: bytes.count == 4 + Int(bytes[2]) << 8 + Int(bytes[3])
        default: false
        }
    }

    /// The content of a file as text: PEM normalised to its strict form, other text unchanged, binary data as base64.
    package static func text(ofFile file: [UInt8]) -> String {
        let text = file.count <= largest ? PEMText.strict(file) : file
        return String(validating: text, as: UTF8.self) ?? Data(file).base64EncodedString()
    }

    /// Decodes base64 in either alphabet, with or without padding. Ignores whitespace, a literal `\n` or `\r`, a byte order mark, and
    /// quotes around the text. Returns `nil` for other text.
    package static func base64(_ text: String) -> [UInt8]? { base64(Array(text.utf8)) }

    private static func base64(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count <= largest, var text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self) else { return nil }
        text = text.replacing(#"\n"#, with: "").replacing(#"\r"#, with: "").filter { !$0.isWhitespace }
        for quote in ["\"", "'"] where text.count > 1 && text.hasPrefix(quote) && text.hasSuffix(quote) {
            text = String(text.dropFirst().dropLast())
        }
        // Dashes and words of a PEM header are valid characters of base64url.
        guard !text.contains("-----BEGIN") else { return nil }
        let letters = text.reversed().drop { $0 == "=" }.reversed()
        let plain = String(letters.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        return plain.isEmpty || text.count - plain.count > 2 ? nil : Base64URL.decode(plain)
    }

    /// Describes the given bytes, for the error message about a wrong kind of file.
    static func kind(_ bytes: [UInt8], otherwise: String = "it is not PEM") -> String {
        if bytes.isEmpty { return "it is empty" }
        if let block = blocks(bytes).first { return kind(block) }
        if bytes.count <= largest, PEMText(bytes).isDamaged {
            return "its PEM is damaged: the last line is missing, or its base64 is invalid"
        }
        if bytes.first == 0x30, String(validating: bytes, as: UTF8.self) == nil {
            return "it is binary (DER): a certificate, or a .p12 file"
        }
        let inner = base64(bytes) ?? []
        if let block = blocks(inner).first { return "\(kind(block)), in base64" }
        if inner.first == 0x30, !isDER(inner), inner.count > 32 { return "it is DER in base64, damaged or cut off" }
        if let json = try? JSON(parsing: bytes.withoutByteOrderMark), json.object != nil {
            return "it is JSON; give the value of the member that contains the key"
        }
        return otherwise
    }

    private static func kind(_ block: PEMBlock) -> String {
        if block.isEncrypted { return "it is a private key with a password" }
        return switch block.label {
        case "CERTIFICATE": "it is a certificate"
        case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "it is a certificate request"
        case "PUBLIC KEY": "it is a public key"
        case "RSA PRIVATE KEY": "it is an RSA key"
        case "PRIVATE KEY": "it is a private key"
        default: "it is \(block.label.lowercased().excerpt)"
        }
    }

    /// The same description where a private key was expected.
    static func keyKind(_ bytes: [UInt8], otherwise: String = "it is not PEM") -> String {
        guard let block = privateKey(bytes), !block.isEncrypted, block.label == "PRIVATE KEY" else {
            return kind(bytes, otherwise: otherwise)
        }
        return "it is another kind of key, or damaged"
    }
}
