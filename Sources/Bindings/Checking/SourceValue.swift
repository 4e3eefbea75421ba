import Lua
import LuaSyntax

/// What the source of a script tells about the value of an expression.
struct SourceValue: ArgumentValue {
    let content: ArgumentContent<SourceValue>
    /// The expression.
    let range: Range<Int>
    /// The literal that a text comes from, which may stand elsewhere.
    var literal: Range<Int>?
    /// Where the keys of a table are written.
    var keys: [String: Range<Int>] = [:]
    var mayBeNil: Bool { if case .unknown = content { true } else { false } }

    init(_ content: ArgumentContent<SourceValue>, at range: Range<Int>) {
        self.content = content
        self.range = range
    }

    /// The same value, read at another place.
    func moved(to range: Range<Int>) -> SourceValue {
        var value = SourceValue(content, at: range)
        value.literal = literal
        value.keys = keys
        return value
    }

    /// The value of a run; nil when parts of it are not known, or have no form outside of one.
    var luaValue: LuaValue? {
        switch content {
        case .unknown, .function, .object: return nil
        case .nil: return .nil
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .string(let text): return .string(text)
        case .bytes(let bytes): return .bytes(bytes)
        case .table(let array, let fields, let isWhole):
            guard isWhole else { return nil }
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
