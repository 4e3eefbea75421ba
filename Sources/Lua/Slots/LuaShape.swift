import CLua

/// The shape of one argument or result of a typed function: the schema by which C reads arguments and writes results.
public struct LuaShape: Sendable {
    indirect enum Form: Sendable {
        case simple(Int)
        case record([(name: String, shape: LuaShape)], isExact: Bool, alone: String?)
        case list(LuaShape)
        case map(LuaShape)
        /// Consumes no argument of the script.
        case nothing
    }

    let form: Form
    var isOptional = false

    /// `true` or `false`.
    public static let boolean = LuaShape(form: .simple(CLUA_BOOLEAN))
    /// An integer, or a float with an integral value.
    public static let integer = LuaShape(form: .simple(CLUA_INTEGER))
    /// A number.
    public static let number = LuaShape(form: .simple(CLUA_NUMBER))
    /// A string that is valid UTF-8.
    public static let text = LuaShape(form: .simple(CLUA_TEXT))
    /// Any string.
    public static let bytes = LuaShape(form: .simple(CLUA_BYTES))
    /// A Boolean, a number, a string or a host object.
    public static let scalar = LuaShape(form: .simple(CLUA_SCALAR))
    /// A host object.
    public static let object = LuaShape(form: .simple(CLUA_OBJECT))
    /// A function.
    public static let function = LuaShape(form: .simple(CLUA_FUNCTION))
    /// Any value, including nil. Read and written value by value, without a schema.
    public static let value = LuaShape(form: .simple(CLUA_VALUE))
    /// Consumes no argument: for information that the host has about the call.
    static let nothing = LuaShape(form: .nothing)

    /// A table with only the keys 1…n.
    public static func list(of element: LuaShape) -> LuaShape { LuaShape(form: .list(element)) }

    /// A table with arbitrary strings as keys. Only for results.
    public static func map(of element: LuaShape) -> LuaShape { LuaShape(form: .map(element)) }

    /// A table with named members.
    ///
    /// - Parameters:
    ///   - members: Their names and shapes, in reading and writing order.
    ///   - isExact: Whether other keys are an error, which costs a visit of every key. Otherwise they are ignored.
    ///   - alone: The member that a value other than a table stands for.
    public static func record(
        _ members: [(name: String, shape: LuaShape)], isExact: Bool = false, alone: String? = nil
    ) -> LuaShape {
        LuaShape(form: .record(members, isExact: isExact, alone: alone))
    }

    /// The shape, or nil.
    public var optional: LuaShape {
        var shape = self
        shape.isOptional = true
        return shape
    }
}
