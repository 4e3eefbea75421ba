/// Reads one JSON text strictly as RFC 8259 defines it, in linear time.
///
/// Can record the positions of string values, so that templates find their expressions.
struct JSONParser {
    /// A string that is a value, not a key.
    struct StringValue {
        let text: String
        /// Including the quotes.
        let range: Range<Int>
    }

    let bytes: [UInt8]
    var at = 0
    private let duplicateKeys: JSON.DuplicateKeys
    private let numbers: JSON.Numbers
    private let recordsStrings: Bool
    private(set) var strings: [StringValue] = []

    init(
        _ bytes: [UInt8], duplicateKeys: JSON.DuplicateKeys = .lastWins, numbers: JSON.Numbers = .asValues,
        recordsStrings: Bool = false
    ) {
        self.bytes = bytes
        self.duplicateKeys = duplicateKeys
        self.numbers = numbers
        self.recordsStrings = recordsStrings
    }

    mutating func document() throws(JSONError) -> JSON {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
        skipBlanks()
        guard at < bytes.count else { throw error("The text is empty; a JSON value was expected.") }
        let value = try value(depth: 0)
        skipBlanks()
        guard at == bytes.count else { throw error("Nothing may follow the JSON value, but \(found) does.") }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        switch peek ?? 0 {
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "\""):
            let start = at
            let text = try string()
            if recordsStrings { strings.append(StringValue(text: text, range: start..<at)) }
            return .string(text)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "'"): throw error("Strings must be in double quotes, not single quotes.")
        default: throw error("A value was expected, not \(found).")
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONObject {
        try enter(depth)
        var object = JSONObject()
        if takes(UInt8(ascii: "}")) { return object }
        repeat {
            skipBlanks()
            let start = at
            guard peek == UInt8(ascii: "\"") else {
                let trailing = peek == UInt8(ascii: "}") && !object.isEmpty
                throw error(
                    trailing ? "Trailing comma before \"}\"." : "A key in double quotes was expected, not \(found).")
            }
            let key = try string()
            if duplicateKeys == .refused, object[key] != nil {
                throw error("The key \"\(key)\" occurs twice.", at: start)
            }
            guard takes(UInt8(ascii: ":")) else { throw error("\":\" was expected after the key, not \(found).") }
            skipBlanks()
            object.append(key, try value(depth: depth))
        } while takes(UInt8(ascii: ","))
        guard takes(UInt8(ascii: "}")) else { throw error("\",\" or \"}\" was expected, not \(found).") }
        return object
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSON] {
        try enter(depth)
        var array: [JSON] = []
        if takes(UInt8(ascii: "]")) { return array }
        repeat {
            skipBlanks()
            if peek == UInt8(ascii: "]"), !array.isEmpty { throw error("Trailing comma before \"]\".") }
            array.append(try value(depth: depth))
        } while takes(UInt8(ascii: ","))
        guard takes(UInt8(ascii: "]")) else { throw error("\",\" or \"]\" was expected, not \(found).") }
        return array
    }

    private mutating func enter(_ depth: Int) throws(JSONError) {
        guard depth <= JSON.maximumDepth else {
            throw error("Arrays and objects are nested deeper than \(JSON.maximumDepth) levels.")
        }
        at += 1
    }

    private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        guard word.withUTF8Buffer({ bytes[at...].starts(with: $0) }) else {
            throw error("A value was expected, not \(found).")
        }
        at += word.utf8CodeUnitCount
        return value
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = at
        guard let shape = JSONNumber.scan(bytes, from: start) else {
            throw error("This is not a JSON number.", at: start)
        }
        at = shape.end
        if let next = peek, JSONNumber.makesNumberInvalid(next) { throw error("This is not a JSON number.", at: start) }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        if shape.isInteger, text != "-0", let value = Int64(text) { return .integer(value) }
        if numbers == .asWritten || shape.isInteger && text != "-0" { return .numeral(text) }
        let value = Double(text)
        if numbers == .lossless, value?.description != text { return .numeral(text) }
        guard let value, value.isFinite else {
            throw error("The number is too large.", at: start)
        }
        return JSONNumber.keepsDigits(of: text, value) ? .number(value) : .numeral(text)
    }

    // MARK: Bytes

    var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skipBlanks() {
        while at < bytes.count, bytes[at] == 0x20 || bytes[at] == 0x0A || bytes[at] == 0x0D || bytes[at] == 0x09 {
            at += 1
        }
    }

    /// Skips whitespace, then the byte. Returns false if another byte follows.
    private mutating func takes(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard peek == byte else { return false }
        at += 1
        return true
    }

    // MARK: Messages

    func error(_ message: String, at offset: Int? = nil) -> JSONError {
        JSONError(message, at: offset ?? at, in: bytes)
    }

    private var found: String {
        guard at < bytes.count else { return "the end of the text" }
        guard let scalar = String(decoding: bytes[at..<min(at + 4, bytes.count)], as: UTF8.self).unicodeScalars.first
        else { return "the end of the text" }
        return scalar.quoted
    }
}
