/// Identifies one run of a script. The host chooses the number.
public struct LuaRunID: Hashable, Sendable {
    /// The number.
    public let rawValue: Int

    /// Makes an identifier.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }
}

/// A call from a script to a host function.
public struct LuaCall: Sendable {
    /// The arguments, exactly as many as the script passed.
    public let arguments: [LuaValue]
    /// The calling line of the script. Frames of the host's own preludes are skipped.
    public let location: SourceLocation?
    /// The run that made the call.
    public let run: LuaRunID
    /// The number of the calling task: 0 is the script's body; spawned tasks are numbered in creation order.
    public let task: Int
    /// The object that the host attached to the run.
    public let attachment: (any AnyObject & Sendable)?

    /// Makes a call, to test a function without a script.
    public init(
        arguments: [LuaValue], location: SourceLocation? = nil, run: LuaRunID, task: Int = 0,
        attachment: (any AnyObject & Sendable)? = nil
    ) {
        self.arguments = arguments
        self.location = location
        self.run = run
        self.task = task
        self.attachment = attachment
    }

    /// The call without its arguments.
    public var site: LuaCallSite { LuaCallSite(location: location, run: run, task: task, attachment: attachment) }
}

/// A Swift function that scripts can call.
///
/// Most functions are typed: they accept and return Swift types, and arguments that do not fit are rejected before the body is called.
/// ``sync(_:_:)`` and ``async(_:_:)`` make functions that accept any ``LuaValue``s, at several times the cost.
///
/// A function may throw. A ``LuaError`` keeps its structure in the script; any other error becomes one with the code `host.error`.
public struct LuaFunction: Sendable {
    /// The full name shown in messages, for example `push.send`. The module's field is named by the part after the last dot.
    public var name: String

    enum Body: Sendable {
        case sync(@Sendable (LuaCall) throws -> [LuaValue])
        case async(@Sendable (LuaCall) async throws -> [LuaValue])
        case typed(TypedFunction)
        case check(@Sendable (String, LuaCall) throws -> Void)
    }
    let body: Body

    init(name: String, body: Body) {
        self.name = name
        self.body = body
    }

    /// Makes a function that returns without waiting.
    public static func sync(
        _ name: String, _ body: @escaping @Sendable (LuaCall) throws -> [LuaValue]
    ) -> LuaFunction {
        LuaFunction(name: name, body: .sync(body))
    }

    /// Makes a function that may wait. Only the calling task waits. Calling it where a script cannot be suspended is an error.
    ///
    /// The body begins on the state's ``LuaThread`` within the call, and continues there after each `await`. If it returns without having
    /// suspended, the script continues at once.
    public static func async(
        _ name: String, _ body: @escaping @Sendable (LuaCall) async throws -> [LuaValue]
    ) -> LuaFunction {
        LuaFunction(name: name, body: .async(body))
    }

    /// Checks the arguments of another function on behalf of a prelude. The script passes that function's name, then its arguments. The
    /// body receives both separately; an unreadable value is reported as an argument of that function.
    package static func check(_ name: String, _ body: @escaping @Sendable (String, LuaCall) throws -> Void) -> LuaFunction {
        LuaFunction(name: name, body: .check(body))
    }

    /// The part of the name after the last dot.
    var shortName: String {
        name.split(separator: ".").last.map(String.init) ?? name
    }
}
