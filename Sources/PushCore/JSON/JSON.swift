/// A JSON value (RFC 8259).
///
/// Numbers without fraction and exponent are `integer` where they fit and `numeral` beyond 64 bits, all others `number`; `1` and `1.0`
/// are not equal.
/// `null` is a value, not the lack of one, so there is no `nil` literal: write `.null`.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    /// A number that is no `integer`, spelled as it was written: a whole number beyond 64 bits, others only where the caller asks for it.
    case numeral(String)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// Most levels of arrays and objects that are read.
    package static let maximumDepth = 128

    /// What to do with a key that occurs twice in an object, which RFC 8259 leaves open.
    package enum DuplicateKeys: Sendable {
        /// The last value counts, at the place of the first.
        case lastWins
        /// An error at the second key.
        case refused
    }

    /// How numbers are read that are no `integer`.
    package enum Numbers: Sendable {
        /// As `number`; whole ones as `numeral`, whose digits a `Double` would lose.
        case asValues
        /// As `numeral`, so that what is passed on is what was sent: `12.50`, `1e3`, `12345678901234567890`.
        case asWritten
    }

    /// Reads one value and nothing else. A byte order mark in front is skipped, as RFC 8259 allows.
    ///
    /// - Throws: `JSONError`, also for input that is not UTF-8, lone surrogates, numbers beyond `Double` that are read as
    ///   values, and arrays or objects in more than 128 levels.
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

    /// The string itself; of any other value its JSON.
    package var plainText: String { string ?? text() }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, also of a number without fraction such as `1e3`.
    package var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .number(let value): Int(exactly: value)
        case .numeral: double.flatMap { Int(exactly: $0) }
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

    /// How many levels of arrays and objects there are.
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

    /// The member of an object; `nil` when it is absent or this is no object.
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
