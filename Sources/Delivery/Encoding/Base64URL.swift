/// Base64 with the URL-safe alphabet, without padding (RFC 4648, section 5; RFC 7515, section 2).
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var (word, bits) = (0, 0)
        for byte in bytes {
            (word, bits) = (word << 8 | Int(byte), bits + 8)
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[word >> bits & 63])
            }
            word &= 1 << bits - 1
        }
        if bits > 0 { text.append(alphabet[word << (6 - bits)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns `nil` for characters outside the alphabet and for impossible lengths; ignores unused trailing bits.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (word, bits) = (0, 0)
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            (word, bits) = (word << 6 | value, bits + 6)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(word >> bits))
                word &= 1 << bits - 1
            }
        }
        return bits < 6 ? bytes : nil
    }

    static func isInAlphabet(_ character: UInt8) -> Bool { value(of: character) != nil }

    private static func value(of character: UInt8) -> Int? {
        switch character {
        case 0x41...0x5a: Int(character) - 0x41
        case 0x61...0x7a: Int(character) - 0x61 + 26
        case 0x30...0x39: Int(character) - 0x30 + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
