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
