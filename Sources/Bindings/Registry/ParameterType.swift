import PushModel

/// The type of a parameter. Argument checks, stubs and help are generated from it.
package indirect enum ParameterType: Sendable, Equatable {
    case any
    case string
    case boolean
    case integer
    case number
    /// A duration: `"90s"`, `"1h30m"`, or a number of seconds.
    case duration
    /// A time: ISO 8601, or a number of seconds since 1970.
    case time
    /// The name of a push service, one of `Platform.spellings`. The binding states which of them it supports.
    case platform
    /// A tag expression, or `push.everyone`.
    case audience
    /// One tag.
    case tag
    case tagExpression
    /// A template body, or a table with a body and further settings.
    case template
    /// The result of `push.secret`, or text.
    case secret
    case table
    case function
    /// A handle: `session`, `device`.
    case object(String)
    case oneOf([String])
    case list(ParameterType)
    case map(ParameterType)
    /// A table whose keys are names of push services.
    case byPlatform(ParameterType)
    case either([ParameterType])

    /// The type as messages name it: "a string", "a list of strings".
    package var phrase: String {
        switch self {
        case .any: "a value"
        case .string: "a string"
        case .boolean: "true or false"
        case .integer: "a whole number"
        case .number: "a number"
        case .duration: "a duration such as \"90s\" or a number of seconds"
        case .time: "an ISO 8601 time or a number of seconds"
        case .platform: "a platform's name"
        case .audience: "a tag expression or push.everyone"
        case .tag: "a tag"
        case .tagExpression: "a tag expression"
        case .template: "a template's body or a table"
        case .secret: "push.secret(…) or a string"
        case .table: "a table"
        case .function: "a function"
        case .object(let name): "a \(name)"
        case .oneOf(let names): names.map { "\"\($0)\"" }.joined(separator: ", ")
        case .list(let element): "a list of \(element.plural)"
        case .map(let element), .byPlatform(let element): "a table of \(element.plural)"
        case .either(let types): types.map(\.phrase).joined(separator: " or ")
        }
    }

    private var plural: String {
        switch self {
        case .string, .tag, .tagExpression: "strings"
        case .integer, .number: "numbers"
        case .function: "functions"
        case .table: "tables"
        case .object(let name): "\(name)s"
        case .boolean: "booleans"
        case .either(let types): types.map(\.plural).joined(separator: " or ")
        default: "values"
        }
    }

    /// The type as editor stubs for lua-language-server name it.
    package var annotation: String {
        switch self {
        case .any: "any"
        case .string: "string"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .duration, .time: "string|number"
        case .platform: "push.Platform"
        case .audience: "string|push.Everyone"
        case .tag, .tagExpression: "string"
        case .template: "string|table"
        case .secret: "string|push.Secret"
        case .table: "table"
        case .function: "function"
        case .object(let name): "push.\(name.prefix(1).uppercased())\(name.dropFirst())"
        case .oneOf(let names): names.map { "\"\($0)\"" }.joined(separator: "|")
        case .list(let element): element.annotation.contains("|") ? "(\(element.annotation))[]" : "\(element.annotation)[]"
        case .map(let element): "table<string, \(element.annotation)>"
        case .byPlatform(let element): "table<push.Platform, \(element.annotation)>"
        case .either(let types): types.map(\.annotation).joined(separator: "|")
        }
    }
}
