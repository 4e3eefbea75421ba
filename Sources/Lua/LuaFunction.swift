/// The identity of one run of a script, chosen by the host.
public struct LuaRunID: Hashable, Sendable {
    /// The number.
    public let rawValue: Int

    /// The run with this number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }
}

/// A call of a script to a function of the host.
public struct LuaCall: Sendable {
    /// The arguments, as many as the script gave.
    public let arguments: [LuaValue]
    /// The line of the script that called, skipping the host's own preludes.
    public let location: SourceLocation?
    /// The run that called.
    public let run: LuaRunID
    /// The task of the run: 0 is the script's body, spawned tasks follow in the order of their creation.
    public let task: Int
    /// What the host attached to the run.
    public let attachment: (any AnyObject & Sendable)?

    /// A call, for testing a function without a script.
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

    /// The same without the arguments.
    public var site: LuaCallSite { LuaCallSite(location: location, run: run, task: task, attachment: attachment) }
}

/// A Swift function that scripts can call.
///
/// Most functions are typed: they take and return Swift types, and arguments that do not fit are refused before they are
/// called. ``sync(_:_:)`` and ``async(_:_:)`` make functions that take whatever they are given, as ``LuaValue``s, for several
/// times the cost.
///
/// A function may throw; a ``LuaError`` keeps its structure in the script, any other error becomes
/// one with the code `host.error`.
public struct LuaFunction: Sendable {
    /// The full name used in messages, for example `push.send`. In its module it is known by the part after the last dot.
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

    /// A function that answers at once.
    public static func sync(
        _ name: String, _ body: @escaping @Sendable (LuaCall) throws -> [LuaValue]
    ) -> LuaFunction {
        LuaFunction(name: name, body: .sync(body))
    }

    /// A function that may wait. Only the task that called it waits; it is refused where a script cannot be suspended.
    ///
    /// It begins on the state's ``LuaThread`` within the call, and what it awaits continues there. When it returns without
    /// having suspended, the script goes on at once.
    public static func async(
        _ name: String, _ body: @escaping @Sendable (LuaCall) async throws -> [LuaValue]
    ) -> LuaFunction {
        LuaFunction(name: name, body: .async(body))
    }

    /// Checks the arguments of another function for a prelude. The script gives that one's name and then its arguments: the body
    /// gets both apart, and what cannot be read is told as an argument of that function.
    package static func check(_ name: String, _ body: @escaping @Sendable (String, LuaCall) throws -> Void) -> LuaFunction {
        LuaFunction(name: name, body: .check(body))
    }

    /// The name without what comes before its last dot.
    var shortName: String {
        name.split(separator: ".").last.map(String.init) ?? name
    }
}
