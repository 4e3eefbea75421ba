/// Escapes text for insertion into an XML document, so that reading the document returns the same text.
///
/// Characters that XML 1.0 does not allow, such as U+0000, become U+FFFD.
package enum XMLEscaping {
    /// Appends character data: `<`, `>`, `&` and CR become references.
    package static func text(_ text: String, into bytes: inout [UInt8]) {
        append(text, into: &bytes) { byte in
            switch byte {
            case UInt8(ascii: "<"): "&lt;"
            case UInt8(ascii: ">"): "&gt;"
            case UInt8(ascii: "&"): "&amp;"
            case 0x0D: "&#13;"
            default: nil
            }
        }
    }

    /// Appends an attribute value for either kind of quotes. Escapes whitespace other than spaces, so that attribute normalization does not
    /// change it.
    package static func attribute(_ text: String, into bytes: inout [UInt8]) {
        append(text, into: &bytes) { byte in
            switch byte {
            case UInt8(ascii: "<"): "&lt;"
            case UInt8(ascii: ">"): "&gt;"
            case UInt8(ascii: "&"): "&amp;"
            case UInt8(ascii: "\""): "&quot;"
            case UInt8(ascii: "'"): "&apos;"
            case 0x09: "&#9;"
            case 0x0A: "&#10;"
            case 0x0D: "&#13;"
            default: nil
            }
        }
    }

    /// Appends the content of a CDATA section; `]]>` is split across two sections.
    package static func cdata(_ text: String, into bytes: inout [UInt8]) {
        var brackets = 0
        append(text, into: &bytes) { byte in
            defer { brackets = byte == UInt8(ascii: "]") ? brackets + 1 : 0 }
            return byte == UInt8(ascii: ">") && brackets >= 2 ? "]]><![CDATA[>" : nil
        }
    }

    private static func append(
        _ text: String, into bytes: inout [UInt8], replacing: (UInt8) -> StaticString?
    ) {
        var text = clean(text)
        text.withUTF8 { source in
            var copied = 0
            for (index, byte) in source.enumerated() {
                guard let replacement = replacing(byte) else { continue }
                bytes.append(contentsOf: source[copied..<index])
                copied = index + 1
                replacement.withUTF8Buffer { bytes.append(contentsOf: $0) }
            }
            bytes.append(contentsOf: source[copied...])
        }
    }

    private static func clean(_ text: String) -> String {
        // Only control characters, U+FFFE and U+FFFF (EF BF BE/BF) are not allowed; most texts contain neither byte.
        let isSuspect = text.utf8.contains { ($0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D) || $0 == 0xEF }
        guard isSuspect else { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(XMLCharacters.isAllowed(scalar) ? scalar : "\u{FFFD}") }
        return String(scalars)
    }
}
