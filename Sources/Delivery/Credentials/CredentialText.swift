import FoundationEssentials
import PushCore

/// Reads the files and texts of credentials leniently: PEM of any shape, DER, and base64 of either.
package enum CredentialText {
    private static let largest = 1 << 20

    /// The documents of a PEM text; empty for anything else.
    static func blocks(_ bytes: [UInt8]) -> [PEMBlock] { bytes.count <= largest ? PEMText(bytes).blocks : [] }

    /// The first private key in PEM, in DER, or in base64 of either. The label of one in DER says nothing of its kind.
    static func privateKey(_ bytes: [UInt8]) -> PEMBlock? { document(bytes, labelled: "PRIVATE KEY") }

    /// All private keys in PEM, or one in another form.
    static func privateKeys(_ bytes: [UInt8]) -> [PEMBlock] {
        let keys = blocks(bytes).filter(\.isPrivateKey)
        return keys.isEmpty ? [privateKey(bytes)].compactMap(\.self) : keys
    }

    /// The first public key, likewise.
    static func publicKey(_ bytes: [UInt8]) -> PEMBlock? { document(bytes, labelled: "PUBLIC KEY") }

    private static func document(_ bytes: [UInt8], labelled label: String) -> PEMBlock? {
        let inner = isDER(bytes) ? bytes : base64(bytes) ?? []
        if isDER(inner) { return PEMBlock(label: label, bytes: inner) }
        return (blocks(bytes) + blocks(inner)).first { $0.label.hasSuffix(label) }
    }

    /// Whether it is one SEQUENCE with all of its bytes; text may begin with the same letter.
    private static func isDER(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 40, bytes.count <= largest, bytes[0] == 0x30 else { return false }
        return switch bytes[1] {
        case 0..<0x80: bytes.count == 2 + Int(bytes[1])
        case 0x81: bytes.count == 3 + Int(bytes[2])
        case 0x82: bytes.count == 4 + Int(bytes[2]) << 8 + Int(bytes[3])
        default: false
        }
    }

    /// The content of a file as text: PEM in its strict form, other text as it is, and binary files in base64.
    package static func text(ofFile file: [UInt8]) -> String {
        let text = file.count <= largest ? PEMText.strict(file) : file
        return String(validating: text, as: UTF8.self) ?? Data(file).base64EncodedString()
    }

    /// The bytes of base64 in either alphabet, with its padding or without. Skipped are blanks, line ends, also those written out as
    /// `\n`, a byte order mark, and quotes around the text. Nil for anything else.
    package static func base64(_ text: String) -> [UInt8]? { base64(Array(text.utf8)) }

    private static func base64(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count <= largest, var text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self) else { return nil }
        text = text.replacing(#"\n"#, with: "").replacing(#"\r"#, with: "").filter { !$0.isWhitespace }
        for quote in ["\"", "'"] where text.count > 1 && text.hasPrefix(quote) && text.hasSuffix(quote) {
            text = String(text.dropFirst().dropLast())
        }
        // The dashes of PEM, and its words, are letters of the other alphabet.
        guard !text.contains("-----BEGIN") else { return nil }
        let letters = text.reversed().drop { $0 == "=" }.reversed()
        let plain = String(letters.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        return plain.isEmpty || text.count - plain.count > 2 ? nil : Base64URL.decode(plain)
    }

    /// What was given instead of what is asked for, in words.
    static func kind(_ bytes: [UInt8], otherwise: String = "it is no PEM") -> String {
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
            return "it is JSON; give the value of the member that holds the key"
        }
        return otherwise
    }

    private static func kind(_ block: PEMBlock) -> String {
        if block.isEncrypted { return "it is a private key with a password" }
        return switch block.label {
        case "CERTIFICATE": "it is a certificate"
        case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "it is a request for a certificate"
        case "PUBLIC KEY": "it is a public key"
        case "RSA PRIVATE KEY": "it is an RSA key"
        case "PRIVATE KEY": "it is a private key"
        default: "it is \(block.label.lowercased().excerpt)"
        }
    }

    /// The same where a private key was asked for.
    static func keyKind(_ bytes: [UInt8], otherwise: String = "it is no PEM") -> String {
        guard let block = privateKey(bytes), !block.isEncrypted, block.label == "PRIVATE KEY" else {
            return kind(bytes, otherwise: otherwise)
        }
        return "it is of another kind, or damaged"
    }
}
