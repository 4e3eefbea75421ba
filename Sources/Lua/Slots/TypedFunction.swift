import CLua

/// The body of a typed function and the shapes of its arguments and results.
package final class TypedFunction: Sendable {
    package typealias Write = @Sendable (inout LuaWriter) -> Void

    package enum Body: Sendable {
        case sync(@Sendable (inout LuaReader, inout LuaWriter) throws -> Void)
        /// Reads the arguments and returns the operation to execute.
        case async(@Sendable (inout LuaReader) throws -> @Sendable () async throws -> Write)
    }

    let schema: LuaSchema
    let body: Body
    /// Called with arguments that do not fit the shapes.
    let fallback: LuaFunction?

    init(arguments: [LuaShape], results: [LuaShape], fallback: LuaFunction? = nil, body: Body) {
        schema = LuaSchema(arguments: arguments, results: results)
        self.fallback = fallback
        self.body = body
    }

    package init(_ schema: LuaSchema, fallback: LuaFunction?, body: Body) {
        self.schema = schema
        self.fallback = fallback
        self.body = body
    }
}

extension LuaFunction {
    /// Makes a function whose shapes are known only at run time.
    package init(_ name: String, _ typed: TypedFunction) {
        self.init(name: name, body: .typed(typed))
    }
}
