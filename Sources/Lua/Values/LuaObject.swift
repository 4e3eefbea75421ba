/// Something of the host that a script can hold and call methods on, without seeing inside.
///
/// In Lua it is a userdata whose metatable comes from the ``LuaObjectType`` of the same name. The same object is the same
/// userdata every time it crosses, so scripts can compare it and use it as a key.
public final class LuaObject: Sendable, Equatable {
    /// The name of its ``LuaObjectType``.
    public let type: String
    /// What the host keeps in it.
    public let payload: any Sendable

    /// An object of the type with this name, which a module must have defined before the object reaches a script.
    public init(type: String, payload: any Sendable) {
        self.type = type
        self.payload = payload
    }

    /// Objects are equal when they are the same.
    public static func == (left: LuaObject, right: LuaObject) -> Bool { left === right }
}

/// What scripts may do with the objects of one type.
public struct LuaObjectType: Sendable {
    /// The name scripts see, for example in `tostring` and in error messages.
    public var name: String
    /// The methods. A method is called with the object as its first argument; its Lua name is the part of
    /// ``LuaFunction/name`` after the last dot.
    public var methods: [LuaFunction]
    /// The text of `tostring(object)`.
    public var describe: (@Sendable (any Sendable) -> String)?
    /// Fields that can be read, looked at after the methods. `nil`: there is no such field.
    public var property: (@Sendable (any Sendable, String) -> LuaValue?)?
    /// The names ``property`` knows, offered when a script misspells one.
    public var propertyNames: [String]

    /// A type with these methods and fields.
    public init(
        name: String,
        methods: [LuaFunction] = [],
        describe: (@Sendable (any Sendable) -> String)? = nil,
        property: (@Sendable (any Sendable, String) -> LuaValue?)? = nil,
        propertyNames: [String] = []
    ) {
        self.name = name
        self.methods = methods
        self.describe = describe
        self.property = property
        self.propertyNames = propertyNames
    }
}

/// A function of a script that the host keeps, to hand it back to scripts of the same state.
///
/// The function lives in Lua at least as long as this reference. The reference may be released on any thread; the state
/// lets go of the function later, on its own.
public final class LuaFunctionReference: Sendable, Equatable {
    /// Where the function begins in a script; nil for one of the host.
    public let definition: SourceLocation?
    let reference: Int32
    let bin: ReferenceBin

    init(reference: Int32, definition: SourceLocation?, bin: ReferenceBin) {
        self.reference = reference
        self.definition = definition
        self.bin = bin
    }

    deinit {
        bin.discard(reference)
    }

    /// References are equal when they are the same.
    public static func == (left: LuaFunctionReference, right: LuaFunctionReference) -> Bool { left === right }
}
