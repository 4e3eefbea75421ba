/// Typed functions that may wait: see ``LuaFunction/async(_:_:)``.
extension LuaFunction {
    /// A typed function that may wait, with no arguments.
    public init<Output: LuaWritable & Sendable>(_ name: String, _ body: @escaping @Sendable () async throws -> Output) {
        self.init(name, takes: [], gives: [Output.luaShape]) { _ in
            return {
                let output = try await body()
                return { writer in output.write(to: &writer) }
            }
        }
    }

    /// A typed function that may wait, with no arguments and no result.
    public init(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        self.init(name, takes: [], gives: []) { _ in
            return {
                try await body()
                return { _ in }
            }
        }
    }

    /// A typed function that may wait, with one argument.
    public init<First: LuaReadable & Sendable, Output: LuaWritable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (First) async throws -> Output
    ) {
        self.init(name, takes: [First.luaShape], gives: [Output.luaShape]) { reader in
            let first = try First.read(from: &reader)
            return {
                let output = try await body(first)
                return { writer in output.write(to: &writer) }
            }
        }
    }

    /// A typed function that may wait, with one argument and no result.
    public init<First: LuaReadable & Sendable>(_ name: String, _ body: @escaping @Sendable (First) async throws -> Void) {
        self.init(name, takes: [First.luaShape], gives: []) { reader in
            let first = try First.read(from: &reader)
            return {
                try await body(first)
                return { _ in }
            }
        }
    }

    /// A typed function that may wait, with two arguments.
    public init<First: LuaReadable & Sendable, Second: LuaReadable & Sendable, Output: LuaWritable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (First, Second) async throws -> Output
    ) {
        self.init(name, takes: [First.luaShape, Second.luaShape], gives: [Output.luaShape]) { reader in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            return {
                let output = try await body(first, second)
                return { writer in output.write(to: &writer) }
            }
        }
    }

    /// A typed function that may wait, with two arguments and no result.
    public init<First: LuaReadable & Sendable, Second: LuaReadable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (First, Second) async throws -> Void
    ) {
        self.init(name, takes: [First.luaShape, Second.luaShape], gives: []) { reader in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            return {
                try await body(first, second)
                return { _ in }
            }
        }
    }

    /// A typed function that may wait, with three arguments.
    public init<
        First: LuaReadable & Sendable, Second: LuaReadable & Sendable, Third: LuaReadable & Sendable, Output: LuaWritable & Sendable
    >(_ name: String, _ body: @escaping @Sendable (First, Second, Third) async throws -> Output) {
        self.init(name, takes: [First.luaShape, Second.luaShape, Third.luaShape], gives: [Output.luaShape]) { reader in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            let third = try Third.read(from: &reader)
            return {
                let output = try await body(first, second, third)
                return { writer in output.write(to: &writer) }
            }
        }
    }

    /// A typed function that may wait, with three arguments and no result.
    public init<First: LuaReadable & Sendable, Second: LuaReadable & Sendable, Third: LuaReadable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (First, Second, Third) async throws -> Void
    ) {
        self.init(name, takes: [First.luaShape, Second.luaShape, Third.luaShape], gives: []) { reader in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            let third = try Third.read(from: &reader)
            return {
                try await body(first, second, third)
                return { _ in }
            }
        }
    }

    /// A typed function that may wait, with four arguments.
    public init<
        First: LuaReadable & Sendable, Second: LuaReadable & Sendable, Third: LuaReadable & Sendable, Fourth: LuaReadable & Sendable,
        Output: LuaWritable & Sendable
    >(_ name: String, _ body: @escaping @Sendable (First, Second, Third, Fourth) async throws -> Output) {
        self.init(name, takes: [First.luaShape, Second.luaShape, Third.luaShape, Fourth.luaShape], gives: [Output.luaShape]) { reader in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            let third = try Third.read(from: &reader)
            let fourth = try Fourth.read(from: &reader)
            return {
                let output = try await body(first, second, third, fourth)
                return { writer in output.write(to: &writer) }
            }
        }
    }

    /// A typed function that may wait, with four arguments and no result.
    public init<
        First: LuaReadable & Sendable, Second: LuaReadable & Sendable, Third: LuaReadable & Sendable, Fourth: LuaReadable & Sendable
    >(_ name: String, _ body: @escaping @Sendable (First, Second, Third, Fourth) async throws -> Void) {
        self.init(name, takes: [First.luaShape, Second.luaShape, Third.luaShape, Fourth.luaShape], gives: []) { reader in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            let third = try Third.read(from: &reader)
            let fourth = try Fourth.read(from: &reader)
            return {
                try await body(first, second, third, fourth)
                return { _ in }
            }
        }
    }

    private init(
        _ name: String, takes arguments: [LuaShape], gives results: [LuaShape],
        _ body: @escaping @Sendable (inout LuaReader) throws -> @Sendable () async throws -> TypedFunction.Write
    ) {
        self.init(name: name, body: .typed(TypedFunction(arguments: arguments, results: results, body: .async(body))))
    }
}
