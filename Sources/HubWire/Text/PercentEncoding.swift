/// Percent-encoding (RFC 3986, section 2.1). Malformed sequences are left unchanged.
package enum PercentEncoding {
    package static func decode(_ text: some StringProtocol) -> String { decode(text, plusIsBlank: false) }

    /// Decodes form encoding, in which `+` is a space.
    package static func decodeForm(_ text: some StringProtocol) -> String { decode(text, plusIsBlank: true) }

    private static func decode(_ text: some StringProtocol, plusIsBlank: Bool) -> String {
        let source = Array(text.utf8)
        guard source.contains(where: { $0 == UInt8(ascii: "%") || plusIsBlank && $0 == UInt8(ascii: "+") }) else {
            return String(text)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var at = 0
        while at < source.count {
            if source[at] == UInt8(ascii: "%"), at + 2 < source.count, let high = digit(source[at + 1]),
                let low = digit(source[at + 2])
            {
                bytes.append(high << 4 | low)
                at += 3
            } else {
                bytes.append(plusIsBlank && source[at] == UInt8(ascii: "+") ? 0x20 : source[at])
                at += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes everything except letters, digits and `-._~`, with lower-case hex digits as in .NET.
    package static func encode(_ text: some StringProtocol) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
