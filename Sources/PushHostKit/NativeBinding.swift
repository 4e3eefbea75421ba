import Bindings
public import Lua

/// A function written in Swift that scripts call: `push.geo.distance { from = …, to = … }`.
///
/// It is described like PushHost's own functions. Its arguments are validated before the call, and `pushhost explain`, `pushhost check`,
/// completion and editors use the description. A script plugin needs the capability `native:SPACE` to call it.
public protocol NativeBinding: Sendable {
    /// A namespace of your own and a name: `geo.distance`. Lower-case letters, digits and `_`.
    var name: String { get }
    /// A summary of one sentence.
    var summary: String { get }
    /// The parameters, passed in one table. If exactly one is required, its value can be passed without a table.
    var parameters: [NativeParameter] { get }
    /// The result type in editor notation, such as `number` or `string[]`; nil if it returns nothing.
    var returns: String? { get }
    /// Codes of the errors that it throws, such as `geo.no_place`.
    var errors: [String] { get }
    /// An example call, in Lua.
    var example: String { get }

    /// Executes a call. Other calls proceed while it waits; it must not block its thread.
    ///
    /// - Throws: The script's error: a `LuaError` unchanged, any other error as `host.error`.
    func call(_ arguments: NativeArguments) async throws -> LuaValue
}

extension NativeBinding {
    public var parameters: [NativeParameter] { [] }
    public var returns: String? { nil }
    public var errors: [String] { [] }
}

/// A named parameter of a function.
public struct NativeParameter: Sendable {
    let parameter: Parameter

    /// A required parameter.
    ///
    /// - Parameter summary: What it means.
    public static func required(_ name: String, _ type: NativeType, _ summary: String) -> NativeParameter {
        NativeParameter(parameter: .required(name, type.base, summary))
    }

    /// An optional parameter.
    public static func optional(_ name: String, _ type: NativeType, _ summary: String) -> NativeParameter {
        NativeParameter(parameter: .optional(name, type.base, summary))
    }
}

/// The type of a parameter. Other values are rejected before the function is called.
public indirect enum NativeType: Sendable {
    /// Any value that a script can pass to the host.
    case any
    /// Text in UTF-8.
    case string
    /// `true` or `false`.
    case boolean
    /// An integer.
    case integer
    /// Any number.
    case number
    /// `"90s"`, `"1h30m"`, or a number of seconds.
    case duration
    /// One tag.
    case tag
    /// One of these texts.
    case oneOf([String])
    /// A list.
    case list(NativeType)
    /// A table with arbitrary string keys.
    case map(NativeType)

    var base: ParameterType {
        switch self {
        case .any: .any
        case .string: .string
        case .boolean: .boolean
        case .integer: .integer
        case .number: .number
        case .duration: .duration
        case .tag: .tag
        case .oneOf(let texts): .oneOf(texts)
        case .list(let element): .list(element.base)
        case .map(let element): .map(element.base)
        }
    }
}

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

extension NativeBinding {
    var binding: Binding {
        .native(name, summary, parameters: parameters.map(\.parameter), returns: returns, errors: errors, example: example) { values in
            try await call(NativeArguments(values))
        }
    }
}
