public import CLua

/// Reads the arguments of a typed function's call, in the order of its shapes.
///
/// Valid only until the function that received it returns.
public struct LuaReader {
    @usableFromInline var next: UnsafePointer<clua_slot>
    @usableFromInline let call: UnsafeMutablePointer<clua_invocation>

    init(_ call: UnsafeMutablePointer<clua_invocation>) {
        self.call = call
        next = call.pointee.arguments
    }

    /// Reads the next value. Its type must match the next shape; otherwise the program stops.
    @inlinable @inline(__always)
    public mutating func read<Value: LuaReadable>(_ type: Value.Type = Value.self) throws -> Value {
        try Value.read(from: &self)
    }

    /// Reads a record member by member, if its shape is not that of a ``LuaReadableRecord``.
    @inlinable @inline(__always)
    public mutating func readRecord<Record>(_ members: (inout LuaReader) throws -> Record) rethrows -> Record {
        _ = slot(of: CLUA_RECORD)
        return try members(&self)
    }

    /// The next slot, of any kind.
    @inlinable @inline(__always)
    mutating func slot() -> clua_slot {
        let slot = next.pointee
        next += 1
        return slot
    }

    /// The next slot, which must be of this kind, so that an address is never used as a number or a number as an address.
    @inlinable @inline(__always)
    mutating func slot(of kind: Int) -> clua_slot {
        let slot = slot()
        precondition(slot.kind == UInt8(kind), LuaReader.mistake)
        return slot
    }

    @usableFromInline
    static let mistake = "values are read in another order or with other types than the shape declares"

    @inlinable @inline(__always)
    var isNil: Bool { next.pointee.kind == UInt8(CLUA_NIL) }

    var machine: Machine {
        // A context has its host for as long as functions can be called.
        Unmanaged<Machine>.fromOpaque(call.pointee.context.pointee.host).takeUnretainedValue()
    }

    /// Reads the value of a slot that only refers to a stack index.
    mutating func dynamicValue() throws -> LuaValue {
        let slot = slot()
        guard slot.kind != UInt8(CLUA_NIL) else { return .nil }
        precondition(slot.kind == UInt8(CLUA_VALUE) || slot.kind == UInt8(CLUA_FUNCTION), Self.mistake)
        do {
            return try machine.read(call.pointee.state, Int32(slot.count), name: "")
        } catch var error as UnreadableValue {
            error.index = Int32(slot.count)
            throw error
        }
    }

    /// Reads the next value of any shape except a record. `name` describes it in errors.
    package mutating func readValue(named name: @autoclosure () -> String) throws -> LuaValue {
        let slot = slot()
        switch Int(slot.kind) {
        case CLUA_NIL: return .nil
        case CLUA_BOOLEAN: return .boolean(slot.integer != 0)
        case CLUA_INTEGER: return .integer(slot.integer)
        case CLUA_NUMBER: return .number(slot.number)
        case CLUA_TEXT:
            let bytes = UnsafeRawBufferPointer(start: slot.text, count: Int(slot.count))
            guard clua_is_utf8(slot.text, bytes.count) else { return .bytes(Array(bytes)) }
            return .string(String(decoding: bytes, as: UTF8.self))
        case CLUA_OBJECT:
            guard let pointer = slot.object,
                let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? LuaObject
            else { throw LuaTypeMismatch() }
            return .object(object)
        case CLUA_LIST:
            var list = LuaTable()
            for index in 0..<Int(slot.count) {
                list.array.append(try readValue(named: "\(name())[\(index + 1)]"))
            }
            return .table(list)
        case CLUA_END: preconditionFailure(Self.mistake)
        default: return try machine.read(call.pointee.state, Int32(slot.count), name: name())
        }
    }

    /// Begins a record, whose members follow. Returns false if the record is absent; then no members follow.
    package mutating func beginRecord() -> Bool {
        let isThere = !isNil
        _ = isThere ? slot(of: CLUA_RECORD) : slot()
        return isThere
    }

    /// Where the call was made, and in which task.
    var site: LuaCallSite {
        let machine = machine
        return LuaCallSite(
            location: machine.location(in: call.pointee.state), run: machine.current?.run.id ?? LuaRunID(rawValue: 0),
            task: machine.current?.number ?? 0, attachment: attachment)
    }

    /// The object that the host attached to the calling run.
    package var attachment: (any AnyObject & Sendable)? { machine.current?.run.attachment }
}

/// Thrown for an argument that passed C's checks but does not fit: text that is not UTF-8, an object of another type.
@usableFromInline
package struct LuaTypeMismatch: Error {
    @usableFromInline
    package init() {}
}

/// Writes the results of a typed function, in the order of its shapes.
public struct LuaWriter {
    @usableFromInline let context: UnsafeMutablePointer<clua_context>

    init(_ context: UnsafeMutablePointer<clua_context>) { self.context = context }

    // Computed instead of stored: a stored copy would cost a write at each call.
    @inlinable @inline(__always)
    var results: UnsafeMutablePointer<clua_results> { clua_context_results(context) }

    /// Writes the next value. Its type must match the next shape.
    @inlinable @inline(__always)
    public mutating func write(_ value: some LuaWritable) {
        value.write(to: &self)
    }

    @inlinable @inline(__always)
    mutating func append(_ slot: clua_slot) {
        if results.pointee.next == results.pointee.end { clua_results_grow(results) }
        results.pointee.next.pointee = slot
        results.pointee.next += 1
    }

    /// Appends a slot without a value of its own: nil, or the beginning of a record, a list or a map.
    @inlinable @inline(__always)
    mutating func append(kind: Int, count: Int = 0) {
        var slot = clua_slot()
        slot.kind = UInt8(kind)
        slot.count = UInt32(truncatingIfNeeded: count)
        append(slot)
    }

    @inlinable @inline(__always)
    mutating func append(copying bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= UInt32.max else { return append(value: .bytes(Array(bytes))) }
        var slot = clua_slot()
        slot.kind = UInt8(CLUA_COPIED)
        slot.integer = Int64(results.pointee.byte_count)
        slot.count = UInt32(bytes.count)
        if let start = bytes.baseAddress, let target = clua_results_bytes(results, bytes.count) {
            target.update(from: start.assumingMemoryBound(to: CChar.self), count: bytes.count)
        }
        append(slot)
    }

    @usableFromInline
    mutating func append(value: LuaValue) {
        let machine = Unmanaged<Machine>.fromOpaque(context.pointee.host).takeUnretainedValue()
        append(kind: CLUA_VALUE, count: machine.resultValues.count)
        machine.resultValues.append(value)
        results.pointee.value_count += 1
    }

    /// Begins a list. The caller writes `count` elements next.
    @inlinable @inline(__always)
    public mutating func beginList(count: Int) { append(kind: CLUA_LIST, count: count) }

    /// Begins a map. The caller writes `count` entries next, each a `String` key and a value.
    @inlinable @inline(__always)
    public mutating func beginMap(count: Int) { append(kind: CLUA_MAP, count: count) }

    /// Begins a record. The caller writes its members next.
    @inlinable @inline(__always)
    public mutating func beginRecord() { append(kind: CLUA_RECORD) }

    /// Writes nil for an optional value.
    @inlinable @inline(__always)
    public mutating func writeNil() { append(kind: CLUA_NIL) }
}
