import Lua
import LuaSyntax

/// The value of an expression, as far as the source shows it.
struct SourceValue: ArgumentValue {
    let content: ArgumentContent<SourceValue>
    /// The range of the expression.
    let range: Range<Int>
    /// The literal that a string comes from, which may be elsewhere in the source.
    var literal: Range<Int>?
    /// The ranges of a table's keys.
    var keys: [String: Range<Int>] = [:]
    var canBeNil: Bool { if case .unknown = content { true } else { false } }

    init(_ content: ArgumentContent<SourceValue>, at range: Range<Int>) {
        self.content = content
        self.range = range
    }

    /// The same value, used at another position.
    func moved(to range: Range<Int>) -> SourceValue {
        var value = SourceValue(content, at: range)
        value.literal = literal
        value.keys = keys
        return value
    }

    /// The value at run time; nil if parts are unknown or exist only at run time.
    var luaValue: LuaValue? {
        switch content {
        case .unknown, .function, .object: return nil
        case .nil: return .nil
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .string(let text): return .string(text)
        case .bytes(let bytes): return .bytes(bytes)
        case .table(let array, let fields, let isComplete):
            guard isComplete else { return nil }
            var table = LuaTable()
            for item in array {
                guard let value = item.luaValue else { return nil }
                table.array.append(value)
            }
            for (key, item) in fields {
                guard let value = item.luaValue else { return nil }
                table.fields[key] = value
            }
            return .table(table)
        }
    }
}
