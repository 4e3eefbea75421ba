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

/// Typed functions that return without waiting.
///
/// ```swift
/// LuaFunction("text.joined") { (parts: [String], separator: String?) in parts.joined(separator: separator ?? ", ") }
/// ```
///
/// An argument that is missing, surplus or of the wrong type raises an error with the code `script.bad_argument`. A function can have at
/// most four arguments; use a record for more.
// One initializer per number of arguments: with parameter packs (6.3) the compiler cannot specialize for the argument types, and crashes on
// async closures.
extension LuaFunction {
    /// A typed function with no arguments.
    @inlinable public init<Output: LuaWritable>(_ name: String, _ body: @escaping @Sendable () throws -> Output) {
        self.init(name, takes: [], gives: [Output.luaShape]) { _, writer in
            try body().write(to: &writer)
        }
    }

    /// A typed function with no arguments and no result.
    @inlinable public init(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
        self.init(name, takes: [], gives: []) { _, _ in
            try body()
        }
    }

    /// A typed function with one argument.
    @inlinable public init<First: LuaReadable, Output: LuaWritable>(_ name: String, _ body: @escaping @Sendable (First) throws -> Output) {
        self.init(name, takes: [First.luaShape], gives: [Output.luaShape]) { reader, writer in
            let first = try First.read(from: &reader)
            try body(first).write(to: &writer)
        }
    }

    /// A typed function with one argument and no result.
    @inlinable public init<First: LuaReadable>(_ name: String, _ body: @escaping @Sendable (First) throws -> Void) {
        self.init(name, takes: [First.luaShape], gives: []) { reader, _ in
            let first = try First.read(from: &reader)
            try body(first)
        }
    }

    /// A typed function with two arguments.
    @inlinable public init<First: LuaReadable, Second: LuaReadable, Output: LuaWritable>(
        _ name: String, _ body: @escaping @Sendable (First, Second) throws -> Output
    ) {
        self.init(name, takes: [First.luaShape, Second.luaShape], gives: [Output.luaShape]) { reader, writer in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            try body(first, second).write(to: &writer)
        }
    }

    /// A typed function with two arguments and no result.
    @inlinable public init<First: LuaReadable, Second: LuaReadable>(
        _ name: String, _ body: @escaping @Sendable (First, Second) throws -> Void
    ) {
        self.init(name, takes: [First.luaShape, Second.luaShape], gives: []) { reader, _ in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            try body(first, second)
        }
    }

    /// A typed function with three arguments.
    @inlinable public init<First: LuaReadable, Second: LuaReadable, Third: LuaReadable, Output: LuaWritable>(
        _ name: String, _ body: @escaping @Sendable (First, Second, Third) throws -> Output
    ) {
        self.init(name, takes: [First.luaShape, Second.luaShape, Third.luaShape], gives: [Output.luaShape]) { reader, writer in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            let third = try Third.read(from: &reader)
            try body(first, second, third).write(to: &writer)
        }
    }

    /// A typed function with three arguments and no result.
    @inlinable public init<First: LuaReadable, Second: LuaReadable, Third: LuaReadable>(
        _ name: String, _ body: @escaping @Sendable (First, Second, Third) throws -> Void
    ) {
        self.init(name, takes: [First.luaShape, Second.luaShape, Third.luaShape], gives: []) { reader, _ in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            let third = try Third.read(from: &reader)
            try body(first, second, third)
        }
    }

    /// A typed function with four arguments.
    @inlinable public init<First: LuaReadable, Second: LuaReadable, Third: LuaReadable, Fourth: LuaReadable, Output: LuaWritable>(
        _ name: String, _ body: @escaping @Sendable (First, Second, Third, Fourth) throws -> Output
    ) {
        self.init(name, takes: [First.luaShape, Second.luaShape, Third.luaShape, Fourth.luaShape], gives: [Output.luaShape]) {
            reader, writer in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            let third = try Third.read(from: &reader)
            let fourth = try Fourth.read(from: &reader)
            try body(first, second, third, fourth).write(to: &writer)
        }
    }

    /// A typed function with four arguments and no result.
    @inlinable public init<First: LuaReadable, Second: LuaReadable, Third: LuaReadable, Fourth: LuaReadable>(
        _ name: String, _ body: @escaping @Sendable (First, Second, Third, Fourth) throws -> Void
    ) {
        self.init(name, takes: [First.luaShape, Second.luaShape, Third.luaShape, Fourth.luaShape], gives: []) { reader, _ in
            let first = try First.read(from: &reader)
            let second = try Second.read(from: &reader)
            let third = try Third.read(from: &reader)
            let fourth = try Fourth.read(from: &reader)
            try body(first, second, third, fourth)
        }
    }

    @usableFromInline
    init(
        _ name: String, takes arguments: [LuaShape], gives results: [LuaShape],
        _ body: @escaping @Sendable (inout LuaReader, inout LuaWriter) throws -> Void
    ) {
        self.init(name: name, body: .typed(TypedFunction(arguments: arguments, results: results, body: .sync(body))))
    }
}

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
