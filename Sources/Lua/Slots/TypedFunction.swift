import CLua

/// The body of a typed function, with the shapes of what it takes and gives.
@usableFromInline
final class TypedFunction: Sendable {
    @usableFromInline typealias Write = @Sendable (inout LuaWriter) -> Void

    @usableFromInline
    enum Body: Sendable {
        case sync(@Sendable (inout LuaReader, inout LuaWriter) throws -> Void)
        /// Reads the arguments, and answers what is to be done with them.
        case async(@Sendable (inout LuaReader) throws -> @Sendable () async throws -> Write)
    }

    let layout: SlotLayout
    let body: Body
    /// Gets arguments that do not fit.
    let fallback: LuaFunction?

    @usableFromInline
    init(arguments: [LuaShape], results: [LuaShape], fallback: LuaFunction? = nil, body: Body) {
        layout = SlotLayout(arguments: arguments, results: results)
        self.fallback = fallback
        self.body = body
    }

    init(_ layout: SlotLayout, fallback: LuaFunction?, body: Body) {
        self.layout = layout
        self.fallback = fallback
        self.body = body
    }
}
