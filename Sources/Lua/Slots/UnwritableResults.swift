/// Initializers for results that cannot be passed to a script. Without them, a closure with such a result would match the initializer for
/// closures without one, and its result would be dropped silently.
// Deprecated instead of unavailable: the compiler would skip an unavailable initializer and use the one without a result.
extension LuaFunction {
    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<Output>(_ name: String, _ body: @escaping @Sendable () throws -> Output) {
        self.init(name, refusing: Output.self)
    }

    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<First: LuaReadable, Output>(_ name: String, _ body: @escaping @Sendable (First) throws -> Output) {
        self.init(name, refusing: Output.self)
    }

    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<First: LuaReadable, Second: LuaReadable, Output>(
        _ name: String, _ body: @escaping @Sendable (First, Second) throws -> Output
    ) {
        self.init(name, refusing: Output.self)
    }

    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<First: LuaReadable, Second: LuaReadable, Third: LuaReadable, Output>(
        _ name: String, _ body: @escaping @Sendable (First, Second, Third) throws -> Output
    ) {
        self.init(name, refusing: Output.self)
    }

    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<First: LuaReadable, Second: LuaReadable, Third: LuaReadable, Fourth: LuaReadable, Output>(
        _ name: String, _ body: @escaping @Sendable (First, Second, Third, Fourth) throws -> Output
    ) {
        self.init(name, refusing: Output.self)
    }

    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<Output>(_ name: String, _ body: @escaping @Sendable () async throws -> Output) {
        self.init(name, refusing: Output.self)
    }

    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<First: LuaReadable & Sendable, Output>(_ name: String, _ body: @escaping @Sendable (First) async throws -> Output) {
        self.init(name, refusing: Output.self)
    }

    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<First: LuaReadable & Sendable, Second: LuaReadable & Sendable, Output>(
        _ name: String, _ body: @escaping @Sendable (First, Second) async throws -> Output
    ) {
        self.init(name, refusing: Output.self)
    }

    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<First: LuaReadable & Sendable, Second: LuaReadable & Sendable, Third: LuaReadable & Sendable, Output>(
        _ name: String, _ body: @escaping @Sendable (First, Second, Third) async throws -> Output
    ) {
        self.init(name, refusing: Output.self)
    }

    @available(*, deprecated, message: "the result of the closure is not LuaWritable: it cannot be given to a script")
    public init<
        First: LuaReadable & Sendable, Second: LuaReadable & Sendable, Third: LuaReadable & Sendable, Fourth: LuaReadable & Sendable, Output
    >(_ name: String, _ body: @escaping @Sendable (First, Second, Third, Fourth) async throws -> Output) {
        self.init(name, refusing: Output.self)
    }

    private init(_ name: String, refusing result: Any.Type) {
        preconditionFailure("the result of \(name) is a \(result), which is not LuaWritable")
    }
}

/// For functions that never return.
extension Never: LuaWritable {
    public static var luaShape: LuaShape { .value }

    public func write(to writer: inout LuaWriter) {}
}
