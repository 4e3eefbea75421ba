import CLua

/// The body of a typed function, with the shapes of what it takes and gives.
package final class TypedFunction: Sendable {
    package typealias Write = @Sendable (inout LuaWriter) -> Void

    package enum Body: Sendable {
        case sync(@Sendable (inout LuaReader, inout LuaWriter) throws -> Void)
        /// Reads the arguments, and answers what is to be done with them.
        case async(@Sendable (inout LuaReader) throws -> @Sendable () async throws -> Write)
    }

    let schema: LuaSchema
    let body: Body
    /// Gets arguments that do not fit.
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
    /// A function whose shapes are only known while the program runs.
    package init(_ name: String, _ typed: TypedFunction) {
        self.init(name: name, body: .typed(typed))
    }
}
