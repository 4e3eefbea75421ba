import Bindings
public import Lua

/// A function that scripts call and that is written in Swift: `push.geo.distance { from = …, to = … }`.
///
/// It is described as PushHost's own functions are: its arguments are checked before it is called, and `pushhost explain`,
/// `pushhost check`, completion and what editors know of it come from the description. A plugin that is a script needs the capability
/// `native:SPACE` to call it.
public protocol NativeBinding: Sendable {
    /// A space of your own and a name: `geo.distance`. Small letters, digits and `_`.
    var name: String { get }
    /// One sentence.
    var summary: String { get }
    /// What it takes, in one table. Where one is required, its value can be given alone.
    var parameters: [NativeParameter] { get }
    /// What it returns, as editors have it: `number`, `string[]`; nil: nothing.
    var returns: String? { get }
    /// Codes of the errors that it throws, such as `geo.no_place`.
    var errors: [String] { get }
    /// A call, in Lua.
    var example: String { get }

    /// Answers a call. While it waits others go on; it must not block its thread.
    ///
    /// - Throws: what the script gets: a `LuaError` as it is, anything else as `host.error`.
    func call(_ arguments: NativeArguments) async throws -> LuaValue
}

extension NativeBinding {
    public var parameters: [NativeParameter] { [] }
    public var returns: String? { nil }
    public var errors: [String] { [] }
}

/// What a function takes under a name.
public struct NativeParameter: Sendable {
    let parameter: Parameter

    /// One without which it is not called.
    ///
    /// - Parameter summary: what it means.
    public static func required(_ name: String, _ type: NativeType, _ summary: String) -> NativeParameter {
        NativeParameter(parameter: .required(name, type.base, summary))
    }

    /// One that may be left out.
    public static func optional(_ name: String, _ type: NativeType, _ summary: String) -> NativeParameter {
        NativeParameter(parameter: .optional(name, type.base, summary))
    }
}

/// What a parameter accepts. Anything else is refused before the function is called.
public indirect enum NativeType: Sendable {
    /// Whatever a script can hand over.
    case any
    /// Text in UTF-8.
    case string
    /// `true` or `false`.
    case boolean
    /// A whole number.
    case integer
    /// A number.
    case number
    /// `"90s"`, `"1h30m"`, or a number of seconds.
    case duration
    /// One tag.
    case tag
    /// One of these texts.
    case oneOf([String])
    /// A list.
    case list(NativeType)
    /// A table with any names.
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

/// The arguments of a call, checked. What was not given is nil.
public struct NativeArguments: Sendable {
    private let values: [String: LuaValue]

    /// For tests of a function.
    public init(_ values: [String: LuaValue]) { self.values = values }

    /// A value as it was given.
    public subscript(name: String) -> LuaValue? { values[name] }

    /// A text.
    public func string(_ name: String) -> String? { if case .string(let text)? = values[name] { text } else { nil } }

    /// A truth value.
    public func boolean(_ name: String) -> Bool? { if case .boolean(let flag)? = values[name] { flag } else { nil } }

    /// A whole number, also where it was written as `2.0`.
    public func integer(_ name: String) -> Int? {
        switch values[name] {
        case .integer(let number)?: Int(number)
        case .number(let number)?: Int(exactly: number)
        default: nil
        }
    }

    /// A number.
    public func number(_ name: String) -> Double? {
        switch values[name] {
        case .integer(let number)?: Double(number)
        case .number(let number)?: number
        default: nil
        }
    }

    /// The values of a list; those of a table are `self[name]`.
    public func list(_ name: String) -> [LuaValue]? { if case .table(let table)? = values[name] { table.array } else { nil } }

    /// The texts of a list.
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
