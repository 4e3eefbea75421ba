import CLua

/// What a typed function takes in one place, or gives: the schema by which C reads arguments and writes results.
public struct LuaShape: Sendable {
    indirect enum Form: Sendable {
        case simple(Int)
        case record([(name: String, shape: LuaShape)], isExact: Bool, alone: String?)
        case list(LuaShape)
        case map(LuaShape)
        /// Takes nothing from the script.
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
    /// A string that is UTF-8.
    public static let text = LuaShape(form: .simple(CLUA_TEXT))
    /// A string.
    public static let bytes = LuaShape(form: .simple(CLUA_BYTES))
    /// A Boolean, a number, a string or an object of the host.
    public static let scalar = LuaShape(form: .simple(CLUA_SCALAR))
    /// An object of the host.
    public static let object = LuaShape(form: .simple(CLUA_OBJECT))
    /// A function.
    public static let function = LuaShape(form: .simple(CLUA_FUNCTION))
    /// Any value, or none: read and written one by one, without a schema.
    public static let value = LuaShape(form: .simple(CLUA_VALUE))
    /// Takes nothing from the script: for what the host itself knows of a call.
    static let nothing = LuaShape(form: .nothing)

    /// A table with the keys 1…n and no others.
    public static func list(of element: LuaShape) -> LuaShape { LuaShape(form: .list(element)) }

    /// A table with any texts as keys. Only in results.
    public static func map(of element: LuaShape) -> LuaShape { LuaShape(form: .map(element)) }

    /// A table with named members.
    ///
    /// - Parameters:
    ///   - members: Their names and shapes, in the order in which they are read and written.
    ///   - isExact: Other keys are refused, at the cost of looking at all keys of the table. Otherwise they are not looked at.
    ///   - alone: The member that may be given in place of the table, when it is no table itself.
    public static func record(
        _ members: [(name: String, shape: LuaShape)], isExact: Bool = false, alone: String? = nil
    ) -> LuaShape {
        LuaShape(form: .record(members, isExact: isExact, alone: alone))
    }

    /// The same, or nil.
    public var optional: LuaShape {
        var shape = self
        shape.isOptional = true
        return shape
    }
}
