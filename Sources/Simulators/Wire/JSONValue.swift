/// A JSON value as received (RFC 8259): members keep their order, numbers keep their spelling.
enum JSONValue: Equatable, Sendable {
    struct Member: Equatable, Sendable {
        var name: String
        var value: JSONValue
    }

    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// Parses JSON; returns `nil` unless `bytes` are UTF-8 and exactly one value.
    init?(_ bytes: [UInt8]) {
        var parser = JSONParser(bytes)
        guard let value = parser.document() else { return nil }
        self = value
    }

    init(members: KeyValuePairs<String, JSONValue>) {
        self = .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    /// The number; `null` for `nil`.
    init(number: Int?) { self = number.map { .number(String($0)) } ?? .null }

    /// The member of an object; if a name is repeated, the last one, as in most parsers.
    subscript(name: String) -> JSONValue? {
        members?.last { $0.name == name }?.value
    }

    var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The number as an integer; `nil` for a fraction and for other values.
    var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        if let whole = Int64(text) { return whole }
        return Double(text).flatMap { Int64(exactly: $0) }
    }

    /// Compact JSON text.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text): text
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
        }
    }

    var bytes: [UInt8] { Array(text.utf8) }

    /// A copy of an object without the named member.
    func removing(_ name: String) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.name != name })
    }

    private static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\n": output += "\\n"
            case "\r": output += "\\r"
            case "\t": output += "\\t"
            case _ where scalar.value < 0x20: output += "\\u00" + Hex.text([UInt8(scalar.value)])
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output + "\""
    }
}
