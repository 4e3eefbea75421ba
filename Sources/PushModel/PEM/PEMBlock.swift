import FoundationEssentials

/// One block of a PEM text, such as a certificate or a private key: a label and bytes (RFC 7468).
package struct PEMBlock: Sendable, Equatable {
    /// The text after `BEGIN`: `CERTIFICATE`, `PRIVATE KEY`.
    package let label: String
    /// Lines such as `Proc-Type: 4,ENCRYPTED` between the first line and the base64 (RFC 1421, section 4.6).
    package let headers: [String]
    package let bytes: [UInt8]

    package init(label: String, headers: [String] = [], bytes: [UInt8]) {
        self.label = label
        self.headers = headers
        self.bytes = bytes
    }

    package var isPrivateKey: Bool { label.hasSuffix("PRIVATE KEY") }
    /// Whether a password is needed to decrypt it.
    package var isEncrypted: Bool { label == "ENCRYPTED PRIVATE KEY" || headers.contains { $0.hasSuffix("ENCRYPTED") } }

    /// The block in strict form, with 64 base64 characters per line, as libraries require.
    package var text: String {
        let base64 = Array(Data(bytes).base64EncodedString().utf8)
        var lines = ["-----BEGIN \(label)-----"]
        if !headers.isEmpty { lines += headers + [""] }
        for start in stride(from: 0, to: base64.count, by: 64) {
            lines.append(String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self))
        }
        return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }
}
