public import CLua

/// The bytes of a Lua string, which need not be UTF-8.
public struct LuaBytes: LuaReadable, LuaWritable, Sendable, Equatable {
    /// The bytes.
    public var bytes: [UInt8]

    /// Makes a value of these bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public static var luaShape: LuaShape { .bytes }

    @inlinable @inline(__always)
    public static func read(from reader: inout LuaReader) -> LuaBytes {
        let slot = reader.slot(of: CLUA_TEXT)
        return LuaBytes(Array(UnsafeRawBufferPointer(start: slot.text, count: Int(slot.count))))
    }

    @inlinable @inline(__always)
    public func write(to writer: inout LuaWriter) {
        bytes.withUnsafeBytes { writer.append(copying: $0) }
    }
}

/// The bytes of a Lua string, without a copy.
///
/// Only for functions that do not wait, and valid only until they return: copy what you need later. Written as a result, it becomes the
/// same Lua string.
public struct LuaBorrowedBytes: LuaReadable, LuaWritable {
    @usableFromInline let slot: clua_slot

    public static var luaShape: LuaShape { .bytes }

    @inlinable @inline(__always)
    init(slot: clua_slot) { self.slot = slot }

    @inlinable @inline(__always)
    public static func read(from reader: inout LuaReader) -> LuaBorrowedBytes { LuaBorrowedBytes(slot: reader.slot(of: CLUA_TEXT)) }

    /// Number of bytes.
    @inlinable @inline(__always)
    public var count: Int { Int(slot.count) }

    /// Calls a closure with the bytes, which are valid only during the call.
    @inlinable @inline(__always)
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: slot.text, count: count))
    }

    @inlinable @inline(__always)
    public func write(to writer: inout LuaWriter) { writer.append(slot) }
}

@available(*, unavailable, message: "the bytes are only there until the function returns")
extension LuaBorrowedBytes: Sendable {}
