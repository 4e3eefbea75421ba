import CLua

/// Reads the arguments of a call of a typed function, in the order of its shapes.
///
/// Valid only while the function that got it has not returned.
public struct LuaReader {
    @usableFromInline var next: UnsafePointer<clua_slot>
    @usableFromInline let call: UnsafeMutablePointer<clua_invocation>

    init(_ call: UnsafeMutablePointer<clua_invocation>) {
        self.call = call
        next = call.pointee.arguments
    }

    /// The next value. The type has to be the one that stands in this place of the shape; another one ends the program.
    @inlinable @inline(__always)
    public mutating func read<Value: LuaReadable>(_ type: Value.Type = Value.self) throws -> Value {
        try Value.read(from: &self)
    }

    /// Reads a record, whose shape is not that of a ``LuaReadableRecord``, member by member.
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

    /// The next slot, which has to be of this kind: an address must not be taken for a number, nor a number for an address.
    @inlinable @inline(__always)
    mutating func slot(of kind: Int) -> clua_slot {
        let slot = slot()
        precondition(slot.kind == UInt8(kind), LuaReader.mistake)
        return slot
    }

    @usableFromInline
    static let mistake = "values are read in another order, or as other types, than the shape says"

    @inlinable @inline(__always)
    var isNil: Bool { next.pointee.kind == UInt8(CLUA_NIL) }

    var machine: Machine {
        // The host of a context is set for as long as functions can be called.
        Unmanaged<Machine>.fromOpaque(call.pointee.context.pointee.host).takeUnretainedValue()
    }

    /// The value of a slot that only names a place on the stack.
    mutating func dynamicValue() throws -> LuaValue {
        let slot = slot()
        guard slot.kind != UInt8(CLUA_NIL) else { return .nil }
        precondition(slot.kind == UInt8(CLUA_VALUE) || slot.kind == UInt8(CLUA_FUNCTION), Self.mistake)
        do {
            return try machine.read(call.pointee.state, Int32(slot.count), name: "")
        } catch var error as UnreadableValue {
            error.place = Int32(slot.count)
            throw error
        }
    }

    /// The next value, whatever its shape; not of a record. `name` says what it is, for errors.
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
            else { throw LuaMisfit() }
            return .object(object)
        case CLUA_LIST:
            var list = LuaTable()
            for place in 0..<Int(slot.count) {
                list.array.append(try readValue(named: "\(name())[\(place + 1)]"))
            }
            return .table(list)
        case CLUA_END: preconditionFailure(Self.mistake)
        default: return try machine.read(call.pointee.state, Int32(slot.count), name: name())
        }
    }

    /// Begins a record, whose members are next; false: there is none, nor are there members.
    package mutating func beginRecord() -> Bool {
        let isThere = !isNil
        _ = isThere ? slot(of: CLUA_RECORD) : slot()
        return isThere
    }

    /// Where the call was made, and by whom.
    var site: LuaCallSite {
        let machine = machine
        return LuaCallSite(
            location: machine.location(in: call.pointee.state), run: machine.current?.run.id ?? LuaRunID(rawValue: 0),
            task: machine.current?.number ?? 0, attachment: attachment)
    }

    /// What the host attached to the run that called.
    package var attachment: (any AnyObject & Sendable)? { machine.current?.run.attachment }
}

/// Thrown for an argument that C took for one that fits: text that is not UTF-8, an object of another type.
@usableFromInline
package struct LuaMisfit: Error {
    @usableFromInline
    package init() {}
}

/// Writes the results of a typed function, in the order of its shapes.
public struct LuaWriter {
    @usableFromInline let context: UnsafeMutablePointer<clua_context>

    init(_ context: UnsafeMutablePointer<clua_context>) { self.context = context }

    // Not kept beside the context: that would be stored at each call.
    @inlinable @inline(__always)
    var results: UnsafeMutablePointer<clua_results> { clua_context_results(context) }

    /// The next value. The type has to be the one that stands in this place of the shape.
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

    /// A slot without a value of its own: nil, or the beginning of a record, a list or a map.
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
        if let start = bytes.baseAddress, let place = clua_results_bytes(results, bytes.count) {
            place.update(from: start.assumingMemoryBound(to: CChar.self), count: bytes.count)
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

    /// Begins a list of so many elements, which are to be written next.
    @inlinable @inline(__always)
    public mutating func beginList(count: Int) { append(kind: CLUA_LIST, count: count) }

    /// Begins a map of so many entries. A key and a value for each are to be written next, the key as a `String`.
    @inlinable @inline(__always)
    public mutating func beginMap(count: Int) { append(kind: CLUA_MAP, count: count) }

    /// Begins a record. Its members are to be written next.
    @inlinable @inline(__always)
    public mutating func beginRecord() { append(kind: CLUA_RECORD) }

    /// Nothing, in a place that is optional.
    @inlinable @inline(__always)
    public mutating func writeNil() { append(kind: CLUA_NIL) }
}
