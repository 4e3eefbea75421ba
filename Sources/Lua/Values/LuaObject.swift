/// An opaque host object that a script can store and call methods on.
///
/// In Lua it is a userdata whose metatable comes from the ``LuaObjectType`` of the same name. One object is always the same userdata, so
/// scripts can compare objects and use them as keys.
public final class LuaObject: Sendable, Equatable {
    /// The name of its ``LuaObjectType``.
    public let type: String
    /// The host's value.
    public let payload: any Sendable

    /// Makes an object. A module must have defined its type before the object reaches a script.
    public init(type: String, payload: any Sendable) {
        self.type = type
        self.payload = payload
    }

    /// Objects are equal if they are identical.
    public static func == (left: LuaObject, right: LuaObject) -> Bool { left === right }
}

/// The methods and fields of one type of object.
public struct LuaObjectType: Sendable {
    /// The name that scripts see, for example in `tostring` and in error messages.
    public var name: String
    /// The methods. Each receives the object as its first argument; its Lua name is the part of ``LuaFunction/name`` after the last dot.
    public var methods: [LuaFunction]
    /// Returns the text of `tostring(object)`.
    public var describe: (@Sendable (any Sendable) -> String)?
    /// Returns the value of a readable field; `nil` if there is no such field. Methods come first.
    public var property: (@Sendable (any Sendable, String) -> LuaValue?)?
    /// The names that ``property`` knows, suggested when a script misspells one.
    public var propertyNames: [String]

    /// Makes a type.
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

/// A reference to a script function, with which the host can call it or return it to scripts of the same state.
///
/// The reference keeps the function alive in Lua. It may be released on any thread; the state frees the function later.
public final class LuaFunctionReference: Sendable, Equatable {
    /// Where the function is defined in a script; nil for a host function.
    public let definition: SourceLocation?
    let reference: Int32
    let bin: DiscardedReferences

    init(reference: Int32, definition: SourceLocation?, bin: DiscardedReferences) {
        self.reference = reference
        self.definition = definition
        self.bin = bin
    }

    deinit {
        bin.discard(reference)
    }

    /// References are equal if they are identical.
    public static func == (left: LuaFunctionReference, right: LuaFunctionReference) -> Bool { left === right }
}
