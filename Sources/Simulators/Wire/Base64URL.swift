/// Base64 with the URL-safe alphabet, without padding (RFC 4648 section 5, RFC 7515 section 2).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        var bits = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | Int(byte)
            count += 8
            while count >= 6 {
                count -= 6
                output.append(alphabet[bits >> count & 63])
            }
            bits &= (1 << count) - 1
        }
        if count > 0 { output.append(alphabet[bits << (6 - count) & 63]) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes `text`; returns `nil` for a character outside the alphabet, padding, or trailing bits that are not zero.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var output: [UInt8] = []
        var bits = 0
        var count = 0
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                output.append(UInt8(bits >> count & 255))
            }
            bits &= (1 << count) - 1
        }
        return count < 6 && bits == 0 ? output : nil
    }

    /// Whether the character is in the alphabet.
    static func isDigit(_ character: UInt8) -> Bool { value(of: character) != nil }

    private static func value(of character: UInt8) -> Int? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character) + 4
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
