import Lua

/// A value that argument checks examine: a run-time value, or what the source of a script shows of one.
protocol ArgumentValue: Sendable {
    var content: ArgumentContent<Self> { get }
    /// Whether the value may be nil at run time.
    var canBeNil: Bool { get }
}

extension LuaValue: ArgumentValue {
    var canBeNil: Bool { false }

    var content: ArgumentContent<LuaValue> {
        switch self {
        case .nil: .nil
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .string(let text): .string(text)
        case .bytes(let bytes): .bytes(bytes)
        case .table(let table): .table(array: table.array, fields: table.fields, isComplete: true)
        case .function: .function
        case .object(let object): .object(type: object.type)
        }
    }

    var phrase: String { content.phrase }
}
