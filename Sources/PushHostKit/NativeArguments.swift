public import Lua

/// The validated arguments of a call. Missing arguments are nil.
public struct NativeArguments: Sendable {
    private let values: [String: LuaValue]

    /// Makes arguments, to test a function.
    public init(_ values: [String: LuaValue]) { self.values = values }

    /// The argument as passed.
    public subscript(name: String) -> LuaValue? { values[name] }

    /// A string argument.
    public func string(_ name: String) -> String? { if case .string(let text)? = values[name] { text } else { nil } }

    /// A Boolean argument.
    public func boolean(_ name: String) -> Bool? { if case .boolean(let flag)? = values[name] { flag } else { nil } }

    /// An integer argument; a number such as `2.0` is accepted too.
    public func integer(_ name: String) -> Int? {
        switch values[name] {
        case .integer(let number)?: Int(number)
        case .number(let number)?: Int(exactly: number)
        default: nil
        }
    }

    /// A number argument.
    public func number(_ name: String) -> Double? {
        switch values[name] {
        case .integer(let number)?: Double(number)
        case .number(let number)?: number
        default: nil
        }
    }

    /// The elements of a list argument. For a table with named fields use `self[name]`.
    public func list(_ name: String) -> [LuaValue]? { if case .table(let table)? = values[name] { table.array } else { nil } }

    /// The strings of a list argument.
    public func strings(_ name: String) -> [String]? {
        list(name)?.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}
