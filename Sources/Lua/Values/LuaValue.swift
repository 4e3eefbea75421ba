/// A value that is passed between Swift and a Lua script.
///
/// Values are copies: changing a ``LuaTable`` in Swift does not change the table in the script. Functions and objects
/// are references.
public enum LuaValue: Sendable, Equatable {
    /// Nil, or no value.
    case `nil`
    /// A Boolean.
    case boolean(Bool)
    /// A 64-bit integer. Lua distinguishes integers from floats.
    case integer(Int64)
    /// A float.
    case number(Double)
    /// A Lua string that is valid UTF-8.
    case string(String)
    /// A Lua string that is not valid UTF-8.
    case bytes([UInt8])
    /// A table with a list part and named fields.
    case table(LuaTable)
    /// A reference to a script function.
    case function(LuaFunctionReference)
    /// A host object.
    case object(LuaObject)
}

extension LuaValue {
    /// The Lua name of the type, as returned by `type()` in a script.
    public var typeName: String {
        switch self {
        case .nil: "nil"
        case .boolean: "boolean"
        case .integer, .number: "number"
        case .string, .bytes: "string"
        case .table: "table"
        case .function: "function"
        case .object(let object): object.type
        }
    }
}

/// A Lua table, as a list (keys 1…n) and named fields.
///
/// A Lua table with other keys (a hole in the list, a Boolean, a table) cannot be represented. Passing one to the host is an error with the
/// code `value.unsupported`.
public struct LuaTable: Sendable, Equatable {
    /// The values under the keys 1…n.
    public var array: [LuaValue]
    /// The values under string keys.
    public var fields: [String: LuaValue]
    /// Whether the table is marked as a list, which distinguishes an empty list from an empty table.
    public var isList: Bool

    /// Makes a table.
    public init(array: [LuaValue] = [], fields: [String: LuaValue] = [:], isList: Bool = false) {
        self.array = array
        self.fields = fields
        self.isList = isList
    }

    /// The list mark is compared only if both tables are empty. Otherwise the values determine what the table is.
    public static func == (left: LuaTable, right: LuaTable) -> Bool {
        guard left.array == right.array, left.fields == right.fields else { return false }
        return left.isList == right.isList || !left.array.isEmpty || !left.fields.isEmpty
    }

    /// The value of a named field; `nil` if there is none.
    public subscript(name: String) -> LuaValue? {
        get { fields[name] }
        set { fields[name] = newValue }
    }
}
