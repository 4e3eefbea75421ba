/// A JSON value (RFC 8259).
///
/// Numbers without fraction and exponent are `integer`, or `numeral` beyond 64 bits; all others are `number`, or `numeral` if a `Double` would
/// lose digits. `1` and `1.0` are not equal.
/// `null` is a value, not the absence of one, so there is no `nil` literal: write `.null`.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    /// The text of a number that is not an `integer`: integers beyond 64 bits, other numbers of which a `Double` would lose digits, and all
    /// others if the caller asks for their text (see ``Numbers``).
    case numeral(String)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// Maximum nesting of arrays and objects that is read.
    package static let maximumDepth = 128

    /// The treatment of a key that occurs twice in an object, which RFC 8259 leaves undefined.
    package enum DuplicateKeys: Sendable {
        /// The last value is used, in the position of the first.
        case lastWins
        /// The second key is an error.
        case refused
    }

    /// The reading of numbers that are not `integer`.
    package enum Numbers: Sendable {
        /// As `number`, except integers and numbers of which a `Double` would lose digits: they become `numeral`.
        case asValues
        /// As `numeral`, so that they are passed on exactly as sent: `12.50`, `1e3`, `12345678901234567890`.
        case asWritten
        /// As `number` if that is written with the same text, otherwise as `numeral`: a value that is read and passed on stays the same.
        case lossless
    }

    /// Reads exactly one value. Skips a byte order mark, as RFC 8259 permits.
    ///
    /// - Throws: `JSONError`, also for input that is not UTF-8, lone surrogates, numbers beyond `Double` that are read as values, and
    ///   nesting deeper than 128 levels.
    package init(
        parsing bytes: some Collection<UInt8>, duplicateKeys: DuplicateKeys = .lastWins, numbers: Numbers = .asValues
    ) throws(JSONError) {
        var parser = JSONParser(Array(bytes), duplicateKeys: duplicateKeys, numbers: numbers)
        self = try parser.document()
    }

    package init(
        parsing text: String, duplicateKeys: DuplicateKeys = .lastWins, numbers: Numbers = .asValues
    ) throws(JSONError) {
        try self.init(parsing: text.utf8, duplicateKeys: duplicateKeys, numbers: numbers)
    }

    package var isNull: Bool { self == .null }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The text of a string; the JSON of any other value.
    package var plainText: String { string ?? text() }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer value, also of a number without fraction such as `1e3`.
    package var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .number(let value): Int(exactly: value)
        case .numeral(let text): JSONDecimal(text)?.int
        default: nil
        }
    }

    package var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .numeral(let text): Double(text)
        default: nil
        }
    }

    /// The value with numbers read as `Double` where no digits are lost, as if it had been parsed with ``Numbers/asValues``.
    package var numbersAsValues: JSON {
        switch self {
        case .numeral(let text): (try? JSON(parsing: text)) ?? self
        case .array(let items): .array(items.map(\.numbersAsValues))
        case .object(let object): .object(JSONObject(object.members.map { ($0.key, $0.value.numbersAsValues) }))
        case .null, .bool, .integer, .number, .string: self
        }
    }

    /// Nesting depth of arrays and objects.
    package var depth: Int {
        switch self {
        case .array(let items): 1 + (items.lazy.map(\.depth).max() ?? 0)
        case .object(let object): 1 + (object.members.lazy.map(\.value.depth).max() ?? 0)
        default: 0
        }
    }

    package var array: [JSON]? {
        if case .array(let values) = self { values } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The member of an object; `nil` if it is absent or this is not an object.
    package subscript(key: String) -> JSON? { object?[key] }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
}
