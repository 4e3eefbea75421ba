public import CLua

/// A type that a typed function can return as a result, or as a part of one.
public protocol LuaWritable: LuaShaped {
    /// Writes the slots of its shape. If it writes too few, the call raises an error with the code `value.shape`.
    func write(to writer: inout LuaWriter)
}

/// A Swift type that is written as a table with named members.
public protocol LuaWritableRecord: LuaRecord, LuaWritable {
    /// Writes the members, in the order of `luaMembers`.
    func writeMembers(to writer: inout LuaWriter)
}

extension LuaWritableRecord {
    @inlinable @inline(__always)
    public func write(to writer: inout LuaWriter) {
        writer.beginRecord()
        writeMembers(to: &writer)
    }
}

extension Bool: LuaWritable {
    @inlinable @inline(__always)
    public func write(to writer: inout LuaWriter) {
        var slot = clua_slot()
        slot.kind = UInt8(CLUA_BOOLEAN)
        slot.integer = self ? 1 : 0
        writer.append(slot)
    }
}

extension Int: LuaWritable {
    @inlinable @inline(__always)
    public func write(to writer: inout LuaWriter) {
        var slot = clua_slot()
        slot.kind = UInt8(CLUA_INTEGER)
        slot.integer = Int64(self)
        writer.append(slot)
    }
}

extension Double: LuaWritable {
    @inlinable @inline(__always)
    public func write(to writer: inout LuaWriter) {
        var slot = clua_slot()
        slot.kind = UInt8(CLUA_NUMBER)
        slot.number = self
        writer.append(slot)
    }
}

extension String: LuaWritable {
    @inlinable @inline(__always)
    public func write(to writer: inout LuaWriter) {
        var text = self
        text.withUTF8 { writer.append(copying: UnsafeRawBufferPointer($0)) }
    }
}

extension Optional: LuaWritable where Wrapped: LuaWritable {
    @inlinable @inline(__always)
    public func write(to writer: inout LuaWriter) {
        if let self { self.write(to: &writer) } else { writer.writeNil() }
    }
}

extension Array: LuaWritable where Element: LuaWritable {
    @inlinable @inline(__always)
    public func write(to writer: inout LuaWriter) {
        writer.beginList(count: count)
        for element in self { element.write(to: &writer) }
    }
}

extension LuaValue: LuaWritable {
    public func write(to writer: inout LuaWriter) { writer.append(value: self) }
}

/// A host object.
extension LuaObject: LuaWritable {
    public func write(to writer: inout LuaWriter) { writer.append(value: .object(self)) }
}

/// A function of a script, returned to the state that it belongs to. In another state the call raises `value.unsupported`.
extension LuaFunctionReference: LuaWritable {
    public func write(to writer: inout LuaWriter) { writer.append(value: .function(self)) }
}

/// A table with string keys.
extension Dictionary: LuaShaped where Key == String, Value: LuaShaped {
    public static var luaShape: LuaShape { .map(of: Value.luaShape) }
}

/// Only for results. To accept a table with arbitrary keys, use ``LuaValue``.
extension Dictionary: LuaWritable where Key == String, Value: LuaWritable {
    public func write(to writer: inout LuaWriter) {
        writer.beginMap(count: count)
        // In a fixed order, so that equal values make equal tables in every process.
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            key.write(to: &writer)
            value.write(to: &writer)
        }
    }
}
