/// One term of a template expression.
package enum TemplateTerm: Sendable, Equatable {
    case literal(String)
    case property(TemplateProperty)

    func evaluate(_ properties: TemplateProperties) -> String {
        switch self {
        case .literal(let text): text
        case .property(let property): property.evaluate(properties)
        }
    }
}

/// A property reference and the format of its value.
package struct TemplateProperty: Sendable, Equatable {
    enum Form: Sendable, Equatable {
        /// `$(name)`
        case plain
        /// `$(name, n)`: the first n characters.
        case clipped(Int)
        /// `.(name, n)`: at most n characters, ending in `...` if the value was cut.
        case shortened(Int)
        /// `%(name)`: percent-encoded.
        case encoded
        /// `#(name)`: a number without quotes in JSON.
        case number
    }

    static let maximumNameLength = 120

    /// In lower case.
    package let name: String
    let form: Form
    /// Used if the property is missing, but not if it is empty.
    package let fallback: String?

    func evaluate(_ properties: TemplateProperties) -> String {
        let value = properties.value(of: name) ?? fallback ?? ""
        switch form {
        case .plain, .number: return value
        case .clipped(let length): return TemplateProperty.clip(value, to: length)
        case .shortened(let length): return TemplateProperty.shorten(value, to: length)
        case .encoded: return TemplateProperty.percentEncode(value)
        }
    }

    /// Whether `#(name)` renders the value as a number. Azure's pattern is JSON's without a sign:
    /// `(0|([1-9][0-9]*))(\.[0-9]+)?((e|E)(\+|-)?[0-9]+)?`. Any other value stays text.
    static func isNumber(_ value: String) -> Bool { value.utf8.first != UInt8(ascii: "-") && JSONNumber.isNumber(value) }

    /// The first `length` characters (grapheme clusters), so that no emoji or accent is split.
    static func clip(_ text: String, to length: Int) -> String {
        text.utf8.count <= length ? text : String(text.prefix(length))
    }

    /// At most `length` characters, including the dots. Below three, only that many dots.
    static func shorten(_ text: String, to length: Int) -> String {
        guard text.utf8.count > length, text.dropFirst(length).first != nil else { return text }
        return text.prefix(max(length - 3, 0)) + String(repeating: ".", count: min(length, 3))
    }

    /// Percent-encodes the UTF-8 bytes of all characters except RFC 3986's unreserved ones.
    static func percentEncode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 2)
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 0x0F)])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
