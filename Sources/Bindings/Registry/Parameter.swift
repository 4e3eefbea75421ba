package import Lua

/// A parameter of a binding.
package struct Parameter: Sendable {
    package var name: String
    package var type: ParameterType
    package var isRequired: Bool
    /// The meaning of the parameter. Also the hint when it is missing.
    package var summary: String
    /// Names that people write by mistake instead of this one.
    package var mistakenFor: [String]
    /// A check of the value that `pushhost check` can make before any run.
    package var rule: Rule?

    /// Throws the error that the call itself would raise for a value of the right type.
    package typealias Rule = @Sendable (_ value: LuaValue) throws -> Void

    func ruled(by rule: @escaping Rule) -> Parameter {
        var parameter = self
        parameter.rule = rule
        return parameter
    }

    package static func required(
        _ name: String, _ type: ParameterType, _ summary: String, mistakenFor: [String] = []
    ) -> Parameter {
        Parameter(name: name, type: type, isRequired: true, summary: summary, mistakenFor: mistakenFor)
    }

    package static func optional(
        _ name: String, _ type: ParameterType, _ summary: String, mistakenFor: [String] = []
    ) -> Parameter {
        Parameter(name: name, type: type, isRequired: false, summary: summary, mistakenFor: mistakenFor)
    }
}

extension Parameter {
    /// Maximum bytes of a text argument. A binding cannot be interrupted while it processes one.
    static let longestText = 1 << 20

    /// Whether a text exceeds the limit. Parameters that are stored or shown unchanged have none.
    func isTooLong(_ text: String) -> Bool {
        if case .either = type { return false }
        return type != .any && text.utf8.count > Self.longestText
    }

    var shape: LuaShape { isRequired ? type.shape : type.shape.optional }

    /// Whether a value conforms to the description.
    func fits(_ value: LuaValue) -> Bool {
        if case .string(let text) = value {
            if isTooLong(text) { return false }
            if type == .audience, text.allSatisfy(\.isWhitespace) { return false }
        }
        return type.fault(in: value) == nil
    }
}

extension ParameterType {
    /// The shape of an argument. Tables with arbitrary keys, and values that may be tables, are not described further.
    fileprivate var shape: LuaShape {
        switch self {
        case .string, .tag, .tagExpression, .platform, .oneOf: .text
        case .boolean: .boolean
        case .integer: .integer
        case .number, .duration, .time, .audience, .secret: .scalar
        case .function: .function
        case .object: .object
        case .list(let element): .list(of: element.shape)
        case .either(let types): types.allSatisfy(\.isScalar) ? .scalar : .value
        case .any, .table, .template, .map, .byPlatform: .value
        }
    }

    private var isScalar: Bool {
        switch self {
        case .any, .table, .template, .map, .byPlatform, .list, .function, .either: false
        default: true
        }
    }
}
