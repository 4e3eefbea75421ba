import FoundationEssentials
import PushCore
import SwiftASN1

/// Files of credentials as people hand them in: with line ends of Windows, a mark of the byte order, PEM without its armour.
enum CredentialText {
    /// The parts of a PEM file; empty for anything else.
    static func documents(_ bytes: [UInt8]) -> [PEMDocument] {
        guard let text = armoured(bytes) else { return [] }
        // Text between the parts, such as `Bag Attributes`, means nothing.
        var documents: [PEMDocument] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "-----BEGIN "), let end = rest[start.upperBound...].firstRange(of: "-----END ") {
            let tail = rest[end.upperBound...].firstRange(of: "-----")?.upperBound ?? rest.endIndex
            if let document = try? PEMDocument(pemString: String(rest[start.lowerBound..<tail])) { documents.append(document) }
            rest = rest[tail...]
        }
        return documents
    }

    /// Text with line feeds; nil for what is not PEM.
    private static func armoured(_ bytes: [UInt8]) -> String? {
        guard bytes.count <= 1 << 20, let text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self), text.contains("-----BEGIN ")
        else { return nil }
        // Where the text was a value of JSON, its line ends may be written out.
        let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n").replacing(#"\n"#, with: "\n")
        return lines.split(separator: "\n").map { line in
            let start = line.drop { $0.isWhitespace }
            return start.prefix(start.count - start.reversed().prefix { $0.isWhitespace }.count)
        }.joined(separator: "\n")
    }

    /// The bytes of base64 in which blanks and line ends mean nothing; nil for anything else.
    static func base64(_ text: String) -> [UInt8]? {
        let plain = text.replacing(#"\n"#, with: "\n").filter { !$0.isWhitespace }
        guard !plain.isEmpty, let data = Data(base64Encoded: plain) else { return nil }
        return Array(data)
    }

    /// What was handed in instead of what is asked for, in words.
    static func kind(_ bytes: [UInt8]) -> String {
        if bytes.isEmpty { return "it is empty" }
        guard let document = documents(bytes).first else {
            return bytes.first == 0x30 ? "it is binary (DER): a certificate, or a .p12 file" : "it is no PEM"
        }
        return switch document.discriminator {
        case "CERTIFICATE": "it is a certificate"
        case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "it is a request for a certificate"
        case "PUBLIC KEY": "it is a public key"
        case "ENCRYPTED PRIVATE KEY": "it is a private key with a password"
        case "RSA PRIVATE KEY": "it is an RSA key"
        case "PRIVATE KEY": "it is a private key"
        default: "it is \(document.discriminator.lowercased().excerpt)"
        }
    }

    /// The same where a private key was asked for.
    static func keyKind(_ bytes: [UInt8]) -> String {
        documents(bytes).first?.discriminator == "PRIVATE KEY" ? "it is of another kind, or damaged" : kind(bytes)
    }
}
