import Lua

extension Binding {
    /// The implementation of a binding, with the shape of its results.
    package struct Body: Sendable {
        enum Kind: Sendable {
            case sync(@Sendable (Arguments, FlowRun) throws -> TypedFunction.Write)
            case async(RunOperation.Kind, @Sendable (Arguments, FlowRun) async throws -> TypedFunction.Write)
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
            _ operation: RunOperation.Kind = .bounded, _ body: @escaping @Sendable (Arguments, FlowRun) async throws -> Output
        ) -> Body {
            Body(
                kind: .async(operation) { arguments, run in
                    let output = try await body(arguments, run)
                    return { writer in writer.write(output) }
                }, results: [Output.luaShape])
        }

        static func async(
            _ operation: RunOperation.Kind = .bounded, _ body: @escaping @Sendable (Arguments, FlowRun) async throws -> Void
        ) -> Body {
            Body(
                kind: .async(operation) { arguments, run in
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
