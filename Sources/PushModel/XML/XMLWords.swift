/// Reading of characters, names and references.
extension XMLScanner {
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Skips whitespace. Returns whether there was any.
    @discardableResult
    mutating func skipBlanks() -> Bool {
        let start = at
        while at < bytes.count, XMLScanner.isBlank(bytes[at]) { at += 1 }
        return at > start
    }

    func starts(with text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[at...].starts(with: $0) }
    }

    /// Moves after the next `mark` at or after `start`. All characters before it must be allowed in XML.
    mutating func skip(past mark: StaticString, from start: Int, _ message: String) throws(XMLError) {
        let opening = at
        let first = mark.withUTF8Buffer { $0.first }
        at = start
        while at < bytes.count {
            if bytes[at] == first, starts(with: mark) {
                at += mark.utf8CodeUnitCount
                return
            }
            at += try allowedScalar().width
        }
        throw error(message, at: opening)
    }

    /// Reads until `ends` returns true or the document ends. Resolves references.
    mutating func characters(
        until ends: (borrowing XMLScanner) throws(XMLError) -> Bool
    ) throws(XMLError) -> String {
        var text = ""
        var piece = at
        while at < bytes.count, try !ends(self) {
            if bytes[at] == UInt8(ascii: "&") {
                text += String(decoding: bytes[piece..<at], as: UTF8.self)
                text.unicodeScalars.append(try reference())
                piece = at
            } else {
                at += try allowedScalar().width
            }
        }
        return text + String(decoding: bytes[piece..<at], as: UTF8.self)
    }

    mutating func name(_ message: String) throws(XMLError) -> String {
        let start = at
        while at < bytes.count {
            let (scalar, width) = scalar()
            guard at == start ? XMLCharacters.startsName(scalar) : XMLCharacters.continuesName(scalar) else { break }
            at += width
        }
        guard at > start else { throw error(message) }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    /// Reads `&name;`, `&#n;` or `&#xn;`. Only the five predefined entities have names.
    private mutating func reference() throws(XMLError) -> Unicode.Scalar {
        let start = at
        guard let (scalar, end) = XMLScanner.reference(in: bytes, at: at) else {
            let tail = bytes[(start + 1)..<min(start + 33, bytes.count)]
            guard let end = tail.firstIndex(of: UInt8(ascii: ";")), end > start + 1 else {
                throw error("\"&\" must be written \"&amp;\".", at: start)
            }
            let text = String(decoding: bytes[start...end], as: UTF8.self)
            let entities = ["&lt;", "&gt;", "&amp;", "&quot;", "&apos;"]
            let hint = nearest(text, in: entities).map { " Did you mean \"\($0)\"?" } ?? ""
            throw error("\"\(text)\" is not a known reference.\(hint)", at: start)
        }
        at = end
        return scalar
    }

    /// The scalar of the reference at `start` and the index after its semicolon.
    static func reference(in bytes: [UInt8], at start: Int) -> (scalar: Unicode.Scalar, end: Int)? {
        let tail = bytes[(start + 1)..<min(start + 16, bytes.count)]
        guard let end = tail.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
        switch name {
        case "lt": return ("<", end + 1)
        case "gt": return (">", end + 1)
        case "amp": return ("&", end + 1)
        case "quot": return ("\"", end + 1)
        case "apos": return ("'", end + 1)
        default: break
        }
        guard name.hasPrefix("#") else { return nil }
        let isHex = name.hasPrefix("#x")
        let digits = name.dropFirst(isHex ? 2 : 1)
        guard !digits.hasPrefix("+"), let value = UInt32(digits, radix: isHex ? 16 : 10),
            let scalar = Unicode.Scalar(value), XMLCharacters.isAllowed(scalar)
        else { return nil }
        return (scalar, end + 1)
    }

    private func allowedScalar() throws(XMLError) -> (scalar: Unicode.Scalar, width: Int) {
        let found = scalar()
        if found.width == 1, found.scalar.value >= 0x20 { return found }
        guard XMLCharacters.isAllowed(found.scalar) else {
            throw error("The character \(found.scalar.quoted) is not allowed in XML.")
        }
        return found
    }

    /// The scalar at `at`. The bytes are valid UTF-8, because they come from a `String`.
    private func scalar() -> (scalar: Unicode.Scalar, width: Int) {
        let first = bytes[at]
        if first < 0x80 { return (Unicode.Scalar(first), 1) }
        let width = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var value = UInt32(first) & (width == 2 ? 0x1F : width == 3 ? 0x0F : 0x07)
        for byte in bytes[(at + 1)..<min(at + width, bytes.count)] { value = value << 6 | UInt32(byte & 0x3F) }
        return (Unicode.Scalar(value) ?? "\u{FFFD}", width)
    }

    func error(_ message: String, at offset: Int? = nil) -> XMLError {
        XMLError(message, at: offset ?? at, in: bytes)
    }
}
