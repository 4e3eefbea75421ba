/// Reads the value of a string literal.
struct StringReader {
    let text: SourceText
    /// The next byte to read.
    private(set) var offset: Int
    private var value: [UInt8] = []
    /// The source offset of each byte of the value.
    private var origins: [Int] = []
    private var keepsOrigins = false

    init(text: SourceText, offset: Int) {
        self.text = text
        self.offset = offset
    }

    /// Reads a quoted string, beginning at its quote. Returns nil if the line ends before the string does.
    mutating func readShort() throws(SyntaxError) -> [UInt8]? {
        let quote = text.bytes[offset]
        offset += 1
        while let byte = text.byte(offset), byte != quote {
            if byte.isNewline { return nil }
            if byte == UInt8(ascii: "\\") {
                guard try readEscape() else { return nil }
            } else {
                add([byte], from: offset)
                offset += 1
            }
        }
        guard offset < text.bytes.count else { return nil }
        offset += 1
        return value
    }

    /// Reads a long string after its opening bracket. Drops a leading line ending and converts all others to LF.
    mutating func readLong(to end: Int) -> [UInt8] {
        if offset < end, text.bytes[offset].isNewline { offset = text.end(ofNewlineAt: offset) }
        while offset < end {
            let byte = text.bytes[offset]
            add([byte.isNewline ? 0x0a : byte], from: offset)
            offset = byte.isNewline ? text.end(ofNewlineAt: offset) : offset + 1
        }
        return value
    }

    /// The source offsets of the bytes of a literal, followed by the offset of its end.
    static func origins(of literal: Range<Int>, in text: SourceText) -> [Int] {
        var reader = StringReader(text: text, offset: literal.lowerBound)
        reader.keepsOrigins = true
        if text.bytes[literal.lowerBound] == UInt8(ascii: "[") {
            let level = text.bytes[literal].dropFirst().prefix { $0 == UInt8(ascii: "=") }.count
            reader.offset += level + 2
            _ = reader.readLong(to: literal.upperBound - level - 2)
        } else {
            _ = try? reader.readShort()
            reader.offset -= 1
        }
        return reader.origins + [reader.offset]
    }

    private mutating func add(_ bytes: [UInt8], from origin: Int) {
        value += bytes
        if keepsOrigins { origins += Array(repeating: origin, count: bytes.count) }
    }

    // MARK: - Escapes

    /// Reads an escape sequence. Returns false if the script ends here.
    private mutating func readEscape() throws(SyntaxError) -> Bool {
        let start = offset
        offset += 1
        guard let byte = text.byte(offset) else { return false }
        if let plain = Self.plain[byte] {
            add([plain], from: start)
            offset += 1
            return true
        }
        switch byte {
        case 0x0a, 0x0d:
            add([0x0a], from: start)
            offset = text.end(ofNewlineAt: offset)
        case UInt8(ascii: "z"):
            offset += 1
            while let blank = text.byte(offset), blank.isBlank || blank.isNewline { offset += 1 }
        case UInt8(ascii: "x"):
            let digits = text.bytes[(offset + 1)...].prefix(2).compactMap(\.hexValue)
            guard digits.count == 2 else { throw fault(start, "\\x needs two hexadecimal digits", "write \\x41") }
            add([digits[0] << 4 | digits[1]], from: start)
            offset += 3
        case UInt8(ascii: "u"): add(try readScalar(start), from: start)
        case _ where byte.isDigit:
            let digits = text.bytes[offset...].prefix(3).prefix { $0.isDigit }
            let code = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            offset += digits.count
            guard let value = UInt8(exactly: code) else { throw fault(start, "\\\(code) is more than a byte", "the largest is \\255") }
            add([value], from: start)
        default:
            let length = text.bytes[offset...].prefix(4).dropFirst().prefix { $0 & 0xc0 == 0x80 }.count + 1
            let letter = text[offset..<(offset + length)]
            offset += length
            throw fault(start, "\\\(letter) is not an escape sequence of Lua", "a backslash itself is \\\\; patterns use %: \"%d+\"")
        }
        return true
    }

    private mutating func readScalar(_ start: Int) throws(SyntaxError) -> [UInt8] {
        let form = "write \\u{20AC}"
        offset += 1
        guard text.byte(offset) == UInt8(ascii: "{") else { throw fault(start, "\\u needs braces", form) }
        offset += 1
        var code: UInt32 = 0
        var count = 0
        while let digit = text.byte(offset)?.hexValue {
            guard code <= 0x7fff_ffff >> 4 else { throw fault(start, "the code in \\u{…} is too large", "the largest is \\u{7FFFFFFF}") }
            code = code << 4 | UInt32(digit)
            offset += 1
            count += 1
        }
        guard count > 0 else { throw fault(start, "\\u{…} needs hexadecimal digits", form) }
        guard text.byte(offset) == UInt8(ascii: "}") else { throw fault(start, "\\u{…} is not closed", form) }
        offset += 1
        return Self.encoded(code)
    }

    private func fault(_ start: Int, _ message: String, _ hint: String) -> SyntaxError {
        SyntaxError(message, hint: hint, at: start..<max(offset, start + 2))
    }

    /// Encodes up to 31 bits as up to six bytes of UTF-8 (RFC 2279).
    private static func encoded(_ code: UInt32) -> [UInt8] {
        if code < 0x80 { return [UInt8(code)] }
        var tail: [UInt8] = []
        var (rest, leadMask) = (code, UInt32(0x3f))
        repeat {
            tail.insert(UInt8(0x80 | rest & 0x3f), at: 0)
            rest >>= 6
            leadMask >>= 1
        } while rest > leadMask
        return [UInt8(truncatingIfNeeded: ~leadMask << 1 | rest)] + tail
    }

    private static let plain: [UInt8: UInt8] = [
        UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "t"): 9, UInt8(ascii: "n"): 10, UInt8(ascii: "v"): 11,
        UInt8(ascii: "f"): 12, UInt8(ascii: "r"): 13, UInt8(ascii: "\\"): 0x5c, UInt8(ascii: "\""): 0x22, UInt8(ascii: "'"): 0x27,
    ]
}

extension SourceText {
    /// The source offset of each byte of a string literal's value, followed by the offset where the literal ends.
    package func origins(ofString literal: Range<Int>) -> [Int] { StringReader.origins(of: literal, in: self) }
}
