import Bindings

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
