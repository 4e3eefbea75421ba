/// One term of a template expression.
enum TemplateTerm: Sendable, Equatable {
    case literal(String)
    case property(TemplateProperty)

    func evaluate(_ properties: TemplateProperties) -> String {
        switch self {
        case .literal(let text): text
        case .property(let property): property.evaluate(properties)
        }
    }
}

/// A property and what is made of its value.
struct TemplateProperty: Sendable, Equatable {
    enum Form: Sendable, Equatable {
        /// `$(name)`
        case plain
        /// `$(name, n)`: the first n characters.
        case clipped(Int)
        /// `.(name, n)`: n characters in all, ending in `...` where something was cut off.
        case shortened(Int)
        /// `%(name)`: percent-encoded.
        case encoded
        /// `#(name)`: a bare number in JSON.
        case number
    }

    static let maximumNameLength = 120

    /// In lower case.
    let name: String
    let form: Form
    /// What stands for a value that is absent (not for an empty one).
    let fallback: String?

    func evaluate(_ properties: TemplateProperties) -> String {
        let value = properties.value(of: name) ?? fallback ?? ""
        switch form {
        case .plain, .number: return value
        case .clipped(let length): return TemplateProperty.clip(value, to: length)
        case .shortened(let length): return TemplateProperty.shorten(value, to: length)
        case .encoded: return TemplateProperty.percentEncode(value)
        }
    }

    /// Whether `#(name)` makes a number of a value. Azure's pattern is JSON's without a sign:
    /// `(0|([1-9][0-9]*))(\.[0-9]+)?((e|E)(\+|-)?[0-9]+)?`. Any other value stays text.
    static func isNumber(_ value: String) -> Bool { value.utf8.first != UInt8(ascii: "-") && JSONNumber.isNumber(value) }

    /// The first `length` characters as a reader counts them (grapheme clusters): no emoji or accent is torn apart.
    static func clip(_ text: String, to length: Int) -> String {
        text.utf8.count <= length ? text : String(text.prefix(length))
    }

    /// `length` characters in all; under three there is only room for some of the dots.
    static func shorten(_ text: String, to length: Int) -> String {
        guard text.utf8.count > length, text.dropFirst(length).first != nil else { return text }
        return text.prefix(max(length - 3, 0)) + String(repeating: ".", count: min(length, 3))
    }

    /// All but RFC 3986's unreserved characters as `%XX` of their UTF-8 bytes.
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
