import CLua

/// A type that a typed function can give as a result, or as a part of one.
public protocol LuaWritable: LuaShaped {
    /// Writes the slots of its shape. When they are fewer, the call raises an error with the code `value.shape`.
    func write(to writer: inout LuaWriter)
}

/// A Swift type that becomes a table with named members.
public protocol LuaWritableRecord: LuaRecord, LuaWritable {
    /// Writes the members, in their order.
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

/// An object of the host.
extension LuaObject: LuaWritable {
    public func write(to writer: inout LuaWriter) { writer.append(value: .object(self)) }
}

/// A function of the script, handed back to the state that it comes from. In another one the call raises `value.unsupported`.
extension LuaFunctionReference: LuaWritable {
    public func write(to writer: inout LuaWriter) { writer.append(value: .function(self)) }
}

/// A table of texts and values.
extension Dictionary: LuaShaped where Key == String, Value: LuaShaped {
    public static var luaShape: LuaShape { .map(of: Value.luaShape) }
}

/// Only as a result: what a script gives as a table of its own making is a ``LuaValue``.
extension Dictionary: LuaWritable where Key == String, Value: LuaWritable {
    public func write(to writer: inout LuaWriter) {
        writer.beginMap(count: count)
        // In a fixed order, so that the same values make the same table in every process.
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            key.write(to: &writer)
            value.write(to: &writer)
        }
    }
}
