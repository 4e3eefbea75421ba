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

extension LuaFunction {
    /// A typed function that answers at once.
    ///
    /// ```swift
    /// LuaFunction("text.times") { (text: String, count: Int?) in String(repeating: text, count: count ?? 1) }
    /// ```
    ///
    /// Arguments that are missing or of another type raise an error with the code `script.bad_argument`.
    @inlinable
    public init<each Argument: LuaReadable, Output: LuaWritable>(
        _ name: String, _ body: @escaping @Sendable (repeat each Argument) throws -> Output
    ) {
        self.init(name, repeat (each Argument).self, results: [Output.luaShape]) { reader, writer in
            try body(repeat (each Argument).read(from: &reader)).write(to: &writer)
        }
    }

    /// A typed function with two results.
    @inlinable
    public init<each Argument: LuaReadable, First: LuaWritable, Second: LuaWritable>(
        _ name: String, _ body: @escaping @Sendable (repeat each Argument) throws -> (First, Second)
    ) {
        self.init(name, repeat (each Argument).self, results: [First.luaShape, Second.luaShape]) { reader, writer in
            let (first, second) = try body(repeat (each Argument).read(from: &reader))
            first.write(to: &writer)
            second.write(to: &writer)
        }
    }

    /// A typed function without a result.
    @inlinable
    public init<each Argument: LuaReadable>(
        _ name: String, _ body: @escaping @Sendable (repeat each Argument) throws -> Void
    ) {
        self.init(name, repeat (each Argument).self, results: []) { reader, _ in
            try body(repeat (each Argument).read(from: &reader))
        }
    }

    @inlinable
    init<each Argument: LuaReadable>(
        _ name: String, _ types: repeat (each Argument).Type, results: [LuaShape],
        body: @escaping @Sendable (inout LuaReader, inout LuaWriter) throws -> Void
    ) {
        var arguments: [LuaShape] = []
        repeat arguments.append((each Argument).luaShape)
        self.init(name: name, typed: TypedFunction(arguments: arguments, results: results, body: .sync(body)))
    }

    @usableFromInline
    init(name: String, typed: TypedFunction) {
        self.init(name: name, body: .typed(typed))
    }
}
