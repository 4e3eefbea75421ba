import CLua
import Glibc

// Calls of typed functions. C reads the arguments by their schema before the call and writes the results after it.

private final class SyncBody {
    let run: @Sendable (inout LuaReader, inout LuaWriter) throws -> Void
    let name: String

    init(_ run: @escaping @Sendable (inout LuaReader, inout LuaWriter) throws -> Void, _ name: String) {
        self.run = run
        self.name = name
    }
}

private final class AsyncBody {
    let prepare: @Sendable (inout LuaReader) throws -> @Sendable () async throws -> TypedFunction.Write
    let name: String

    init(_ prepare: @escaping @Sendable (inout LuaReader) throws -> @Sendable () async throws -> TypedFunction.Write, _ name: String) {
        self.prepare = prepare
        self.name = name
    }
}

private let callSync: @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<clua_invocation>) -> Int32 = { box, call in
    let context = call.pointee.context
    return Unmanaged<SyncBody>.fromOpaque(box)._withUnsafeGuaranteedRef { body in
        if context.pointee.results.value_count > 0 { forgetValues(context) }
        var reader = LuaReader(call)
        var writer = LuaWriter(context)
        do {
            try body.run(&reader, &writer)
            return Int32(CLUA_SLOTS)
        } catch {
            return refuse(error, call, body.name)
        }
    }
}

private func forgetValues(_ context: UnsafeMutablePointer<clua_context>) {
    context.pointee.results.value_count = 0
    guard let host = context.pointee.host else { return }
    Unmanaged<Machine>.fromOpaque(host).takeUnretainedValue().resultValues.removeAll(keepingCapacity: true)
}

private func refuse(_ error: any Error, _ call: UnsafeMutablePointer<clua_invocation>, _ name: String) -> Int32 {
    if error is LuaTypeMismatch { return Int32(CLUA_TYPE_MISMATCH) }
    guard let host = call.pointee.context.pointee.host else { return 0 }
    let error = (error as? UnreadableValue)?.error(in: name, calledBy: call.pointee.state) ?? error
    Unmanaged<Machine>.fromOpaque(host).takeUnretainedValue().pushError(LuaError(raisedByHost: error), to: call.pointee.state)
    return Int32(CLUA_ERROR)
}

private let callAsync: @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<clua_invocation>) -> Int32 = { box, call in
    guard let host = call.pointee.context.pointee.host else { return 0 }
    let L = call.pointee.state
    return Unmanaged<AsyncBody>.fromOpaque(box)._withUnsafeGuaranteedRef { body in
        Unmanaged<Machine>.fromOpaque(host)._withUnsafeGuaranteedRef { machine in
            do {
                var reader = LuaReader(call)
                let operation = try body.prepare(&reader)
                return try machine.startOperation(L) { .slots(try await operation()) }
            } catch {
                return refuse(error, call, body.name)
            }
        }
    }
}

/// Pushes a result that has no schema.
let pushValueFromLua: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UInt32) -> Int32 = { host, L, number in
    guard let host, let L else { return 0 }
    return Unmanaged<Machine>.fromOpaque(host)._withUnsafeGuaranteedRef { machine in
        do {
            return try machine.push([machine.resultValues[Int(number)]], to: L)
        } catch {
            machine.pushError(LuaError(raisedByHost: error), to: L)
            return Int32(CLUA_ERROR)
        }
    }
}

extension Machine {
    func pushTyped(_ function: TypedFunction, name: String, to L: OpaquePointer) {
        let schema = function.schema
        let signature = UnsafeMutablePointer<clua_signature>.allocate(capacity: 1)
        let (box, body, waits) = Self.box(function.body, name)
        signature.initialize(
            to: clua_signature(
                name: strdup(name), arguments: schema.arguments, results: schema.results, keys: schema.keys,
                key_count: Int32(schema.keyCount), argument_count: Int32(schema.argumentCount),
                result_count: Int32(schema.resultCount), waits: waits, argument_slots: Int32(schema.argumentSlots),
                is_flat: schema.isFlat, is_plain: schema.isPlain,
                fallback: function.fallback.map { add($0) } ?? -1, body: body, box: Unmanaged.passUnretained(box).toOpaque()))
        typed.append((signature, function, box))
        clua_push_typed(L, signature)
    }

    private static func box(_ body: TypedFunction.Body, _ name: String) -> (
        AnyObject, @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<clua_invocation>) -> Int32, Bool
    ) {
        switch body {
        case .sync(let run): (SyncBody(run, name), callSync, false)
        case .async(let prepare): (AsyncBody(prepare, name), callAsync, true)
        }
    }

    /// Registers a fallback function, which receives ``LuaValue``s.
    private func add(_ function: LuaFunction) -> Int64 {
        switch function.body {
        case .sync(let body): add(.sync(name: function.name, body))
        case .async(let body): add(.async(name: function.name, body))
        case .typed, .check: preconditionFailure("a fallback takes values")
        }
    }

    func freeSignatures() {
        for (signature, _, _) in typed {
            free(UnsafeMutablePointer(mutating: signature.pointee.name))
            signature.deallocate()
        }
        typed = []
    }

    /// Stores the results of a typed function in the context, where C reads them.
    func write(_ write: TypedFunction.Write) {
        clua_results_reset(context)
        if context.pointee.results.value_count > 0 { forgetValues(context) }
        var writer = LuaWriter(context)
        write(&writer)
    }
}
