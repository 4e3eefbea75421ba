import Lua

extension Binding {
    /// The implementation of a binding, with the shape of its results.
    package struct Body: Sendable {
        enum Kind: Sendable {
            case sync(@Sendable (Arguments, FlowRun) throws -> TypedFunction.Write)
            case async(@Sendable (Arguments, FlowRun) async throws -> TypedFunction.Write)
            /// Implemented in the Lua prelude, because it calls functions of the script.
            case prelude
        }

        let kind: Kind
        let results: [LuaShape]

        static let prelude = Body(kind: .prelude, results: [])

        static func sync<Output: LuaWritable & Sendable>(
            _ body: @escaping @Sendable (Arguments, FlowRun) throws -> Output
        ) -> Body {
            Body(
                kind: .sync { arguments, run in
                    let output = try body(arguments, run)
                    return { writer in writer.write(output) }
                }, results: [Output.luaShape])
        }

        static func sync(_ body: @escaping @Sendable (Arguments, FlowRun) throws -> Void) -> Body {
            Body(
                kind: .sync { arguments, run in
                    try body(arguments, run)
                    return { _ in }
                }, results: [])
        }

        static func async<Output: LuaWritable & Sendable>(
            _ body: @escaping @Sendable (Arguments, FlowRun) async throws -> Output
        ) -> Body {
            Body(
                kind: .async { arguments, run in
                    let output = try await body(arguments, run)
                    return { writer in writer.write(output) }
                }, results: [Output.luaShape])
        }

        static func async(_ body: @escaping @Sendable (Arguments, FlowRun) async throws -> Void) -> Body {
            Body(
                kind: .async { arguments, run in
                    try await body(arguments, run)
                    return { _ in }
                }, results: [])
        }
    }

    /// The shapes of arguments and results.
    var schema: LuaSchema {
        var arguments: [LuaShape] = receiver == nil ? [] : [.object]
        let single = style == .positional ? parameters.count : style == .leading ? 1 : 0
        arguments += parameters.prefix(single).map(\.shape)
        let named = parameters.dropFirst(single)
        if !named.isEmpty {
            let required = named.filter(\.isRequired)
            let record = LuaShape.record(
                named.map { ($0.name, $0.shape) }, isExact: true, alone: required.count == 1 ? required[0].name : nil)
            arguments.append(required.isEmpty ? record.optional : record)
        }
        return LuaSchema(arguments: arguments, results: body.results)
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
