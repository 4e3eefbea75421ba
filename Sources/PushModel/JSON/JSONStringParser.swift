extension JSONParser {
    /// Reads the string whose opening quote is at `at`. Afterwards `at` is after the closing quote.
    mutating func string() throws(JSONError) -> String {
        let start = at
        at += 1
        let content = at
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                let text = try decoded(content..<at)
                at += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: content, start: start)
            case 0..<0x20: throw error("A control character in a string must be escaped.")
            default: at += 1
            }
        }
        throw error("This string is never closed.", at: start)
    }

    /// Reads a string with escapes. Copies the parts between them and checks each for UTF-8.
    private mutating func escapedString(from content: Int, start: Int) throws(JSONError) -> String {
        var text = ""
        var piece = content
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                text += try decoded(piece..<at)
                at += 1
                return text
            case UInt8(ascii: "\\"):
                text += try decoded(piece..<at)
                text.unicodeScalars.append(try escape(start: start))
                piece = at
            case 0..<0x20: throw error("A control character in a string must be escaped.")
            default: at += 1
            }
        }
        throw error("This string is never closed.", at: start)
    }

    private mutating func escape(start: Int) throws(JSONError) -> Unicode.Scalar {
        let offset = at
        at += 1
        guard let byte = peek else { throw error("This string is never closed.", at: start) }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(at: offset)
        default:
            throw error("Invalid escape: a backslash must be followed by one of \" \\ / b f n r t u.", at: offset)
        }
    }

    /// The scalar of `\uXXXX`, or of a surrogate pair for values above U+FFFF.
    private mutating func unicodeEscape(at offset: Int) throws(JSONError) -> Unicode.Scalar {
        let unit = try fourDigits(at: offset)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, peek == UInt8(ascii: "\\"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "u") else {
            throw error("Unpaired surrogate in a \\u escape.", at: offset)
        }
        at += 2
        let low = try fourDigits(at: at - 2)
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else {
            throw error("Unpaired surrogate in a \\u escape.", at: offset)
        }
        return scalar
    }

    private mutating func fourDigits(at offset: Int) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("\"\\u\" needs four hexadecimal digits.", at: offset)
            }
            value = value << 4 | UInt32(digit)
            at += 1
        }
        return value
    }

    private func decoded(_ range: Range<Int>) throws(JSONError) -> String {
        // Most strings are ASCII, for which the validating initializer is several times slower.
        if bytes[range].allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes[range], as: UTF8.self) }
        let text = bytes.withUnsafeBufferPointer {
            String(validating: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self)
        }
        if let text { return text }
        var iterator = bytes[range].makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        var offset = range.lowerBound
        while case .valid(let scalar) = parser.parseScalar(from: &iterator) { offset += scalar.count }
        throw error("This is not UTF-8.", at: offset)
    }
}
