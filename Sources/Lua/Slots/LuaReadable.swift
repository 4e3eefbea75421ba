public import CLua

/// A type that corresponds to a kind of Lua value.
public protocol LuaShaped: SendableMetatype {
    /// The kind of Lua value.
    static var luaShape: LuaShape { get }
}

/// A type that a typed function can accept as an argument, or as a part of one.
public protocol LuaReadable: LuaShaped {
    /// Reads the slots of its shape.
    static func read(from reader: inout LuaReader) throws -> Self
}

/// A Swift type that is read from a table with named members.
///
/// ```swift
/// struct Order: LuaReadableRecord {
///     static let luaMembers: [(name: String, shape: LuaShape)] = [("topic", .text), ("priority", .integer)]
///     var topic: String
///     var priority: Int
///
///     init(members: inout LuaReader) throws {
///         topic = try members.read()
///         priority = try members.read()
///     }
/// }
/// ```
public protocol LuaReadableRecord: LuaRecord, LuaReadable {
    /// Reads the members, in the order of `luaMembers`.
    init(members: inout LuaReader) throws
}

/// A Swift type that corresponds to a table with named members.
public protocol LuaRecord: LuaShaped {
    /// The names and shapes of the members.
    static var luaMembers: [(name: String, shape: LuaShape)] { get }
}

extension LuaRecord {
    public static var luaShape: LuaShape { .record(luaMembers) }
}

extension LuaReadableRecord {
    @inlinable @inline(__always)
    public static func read(from reader: inout LuaReader) throws -> Self {
        _ = reader.slot(of: CLUA_RECORD)
        return try Self(members: &reader)
    }
}

extension Bool: LuaReadable {
    public static var luaShape: LuaShape { .boolean }

    @inlinable @inline(__always)
    public static func read(from reader: inout LuaReader) -> Bool { reader.slot(of: CLUA_BOOLEAN).integer != 0 }
}

extension Int: LuaReadable {
    public static var luaShape: LuaShape { .integer }

    @inlinable @inline(__always)
    public static func read(from reader: inout LuaReader) -> Int { Int(reader.slot(of: CLUA_INTEGER).integer) }
}

extension Double: LuaReadable {
    public static var luaShape: LuaShape { .number }

    @inlinable @inline(__always)
    public static func read(from reader: inout LuaReader) -> Double { reader.slot(of: CLUA_NUMBER).number }
}

/// Text. A string that is not UTF-8 is rejected.
extension String: LuaReadable {
    public static var luaShape: LuaShape { .text }

    @inlinable @inline(__always)
    public static func read(from reader: inout LuaReader) throws -> String {
        let slot = reader.slot(of: CLUA_TEXT)
        let count = Int(slot.count)
        if clua_is_short_ascii(slot.text, count), let text = slot.text {
            return String(unsafeUninitializedCapacity: count) { buffer in
                UnsafeMutableRawBufferPointer(buffer).copyMemory(from: UnsafeRawBufferPointer(start: text, count: count))
                return count
            }
        }
        guard clua_is_utf8(slot.text, count) else { throw LuaTypeMismatch() }
        // Validated above. String(validating:as:) would look up generic metadata at each call.
        return String(decoding: UnsafeRawBufferPointer(start: slot.text, count: count), as: UTF8.self)
    }
}

extension Optional: LuaShaped where Wrapped: LuaShaped {
    public static var luaShape: LuaShape { Wrapped.luaShape.optional }
}

extension Optional: LuaReadable where Wrapped: LuaReadable {
    @inlinable @inline(__always)
    public static func read(from reader: inout LuaReader) throws -> Wrapped? {
        guard reader.isNil else { return try Wrapped.read(from: &reader) }
        _ = reader.slot()
        return nil
    }
}

/// A list: a table with only the keys 1…n.
extension Array: LuaShaped where Element: LuaShaped {
    public static var luaShape: LuaShape { .list(of: Element.luaShape) }
}

extension Array: LuaReadable where Element: LuaReadable {
    @inlinable @inline(__always)
    public static func read(from reader: inout LuaReader) throws -> [Element] {
        let count = Int(reader.slot(of: CLUA_LIST).count)
        var elements: [Element] = []
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try Element.read(from: &reader)) }
        return elements
    }
}

extension LuaValue: LuaReadable {
    public static var luaShape: LuaShape { .value }

    public static func read(from reader: inout LuaReader) throws -> LuaValue { try reader.dynamicValue() }
}

/// A reference to a function of the script, for later calls.
extension LuaFunctionReference: LuaReadable {
    public static var luaShape: LuaShape { .function }

    public static func read(from reader: inout LuaReader) throws -> LuaFunctionReference {
        guard case .function(let function) = try reader.dynamicValue() else { throw LuaTypeMismatch() }
        return function
    }
}

/// A host object of any type.
extension LuaObject: LuaReadable {
    public static var luaShape: LuaShape { .object }

    public static func read(from reader: inout LuaReader) throws -> LuaObject {
        let slot = reader.slot(of: CLUA_OBJECT)
        guard let pointer = slot.object,
            let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? LuaObject
        else { throw LuaTypeMismatch() }
        return object
    }
}
