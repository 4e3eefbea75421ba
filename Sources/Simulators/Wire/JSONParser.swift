/// A strict JSON parser (RFC 8259): no comments, no trailing commas, no leading zeros.
struct JSONParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private static let deepest = 64

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses the text; returns `nil` unless it is exactly one value.
    mutating func document() -> JSONValue? {
        guard String(validating: bytes, as: UTF8.self) != nil, let value = value() else { return nil }
        skipBlanks()
        return position == bytes.count ? value : nil
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    private mutating func value() -> JSONValue? {
        skipBlanks()
        guard let byte = next, depth < Self.deepest else { return nil }
        switch byte {
        case UInt8(ascii: "{"): return nested { $0.object() }
        case UInt8(ascii: "["): return nested { $0.array() }
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return take(word: "true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return take(word: "false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return take(word: "null") ? .null : nil
        default: return number().map { .number($0) }
        }
    }

    private mutating func nested(_ read: (inout JSONParser) -> JSONValue?) -> JSONValue? {
        depth += 1
        position += 1
        defer { depth -= 1 }
        return read(&self)
    }

    private mutating func object() -> JSONValue? {
        var members: [JSONValue.Member] = []
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard let name = string() else { return nil }
            skipBlanks()
            guard take(UInt8(ascii: ":")), let value = value() else { return nil }
            members.append(.init(name: name, value: value))
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func array() -> JSONValue? {
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            guard let value = value() else { return nil }
            elements.append(value)
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = next, byte >= 0x30, byte <= 0x39 { position += 1 }
        return position > start
    }

    private mutating func number() -> String? {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), !digits() { return nil }
        if take(UInt8(ascii: ".")), !digits() { return nil }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() else { return nil }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func string() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var output: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: output, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                output += Array(String(scalar).utf8)
            case 0..<0x20: return nil
            default: output.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let high = unit() else { return nil }
            guard 0xd800...0xdbff ~= high else { return Unicode.Scalar(high) }
            guard take(word: "\\u"), let low = unit(), 0xdc00...0xdfff ~= low else { return nil }
            return Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
        default: return nil
        }
    }

    private mutating func unit() -> UInt32? {
        guard position + 4 <= bytes.count, bytes[position..<position + 4].allSatisfy(Hex.isDigit) else { return nil }
        defer { position += 4 }
        return UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
    }
}
