/// The knowledge of argument checks about a value.
enum ArgumentContent<Value: Sendable>: Sendable {
    /// Known only at run time.
    case unknown
    case `nil`
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    /// Text that is not valid UTF-8.
    case bytes([UInt8])
    /// `isComplete`: there are no unknown elements.
    case table(array: [Value], fields: [String: Value], isComplete: Bool)
    case function
    case object(type: String)
}

extension ArgumentContent {
    var isTable: Bool {
        if case .table = self { true } else { false }
    }

    /// Whether the value is an empty table, as the `push` module itself appears to be.
    var isEmptyTable: Bool {
        if case .table(let array, let fields, true) = self { array.isEmpty && fields.isEmpty } else { false }
    }

    var isNil: Bool {
        if case .nil = self { true } else { false }
    }

    /// A description of the value for messages: `the string "abc"`, `the number 42`, `a table`.
    var phrase: String {
        switch self {
        case .unknown: "something else"
        case .nil: "nil"
        case .boolean(let value): "\(value)"
        case .integer(let value): "the number \(value)"
        case .number(let value): "the number \(value)"
        case .string(let text): text.count <= 40 ? "the string \"\(text)\"" : "a string of \(text.count) characters"
        case .bytes(let bytes): "\(bytes.count) bytes that are not UTF-8"
        case .table: "a table"
        case .function: "a function"
        case .object(let type): "a \(type)"
        }
    }

    /// The name of the Lua type or of the handle.
    var typeName: String {
        switch self {
        case .unknown: "value"
        case .nil: "nil"
        case .boolean: "boolean"
        case .integer, .number: "number"
        case .string, .bytes: "string"
        case .table: "table"
        case .function: "function"
        case .object(let type): type
        }
    }
}
