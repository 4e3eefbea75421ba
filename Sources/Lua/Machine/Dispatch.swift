import CLua
import Glibc

// Calls from Lua into Swift. Code between the two lines of the trampoline must not raise a Lua error.

let dispatchFromLua: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, Int64) -> Int32 = { host, L, function in
    guard let host, let L else { return 0 }
    return Unmanaged<Machine>.fromOpaque(host)._withUnsafeGuaranteedRef { $0.dispatch(L, Int(function)) }
}

let releaseFromLua: @convention(c) (UnsafeMutableRawPointer?) -> Void = { object in
    guard let object else { return }
    Unmanaged<AnyObject>.fromOpaque(object).release()
}

/// The result that a host operation returns to the script.
enum Answer: Sendable {
    case values([LuaValue])
    case slots(TypedFunction.Write)
}

extension Machine {
    func dispatch(_ L: OpaquePointer, _ index: Int) -> Int32 {
        do {
            switch functions[index] {
            case .sync(let name, let body): return try push(body(try call(from: L, of: name)), to: L)
            case .async(let name, let body):
                let call = try call(from: L, of: name)
                return try startOperation(L) { .values(try await body(call)) }
            case .check(let body):
                let name = readString(L, 1) ?? "?"
                try body(name, try call(from: L, of: name, after: 1))
                return 0
            case .builtin(let body): return try body(self, L)
            }
        } catch {
            if !context.pointee.is_abandoned { pushError(LuaError(raisedByHost: error), to: L) }
            return Int32(CLUA_ERROR)
        }
    }

    /// Registers a function and returns its number.
    func add(_ function: Function) -> Int64 {
        functions.append(function)
        return Int64(functions.count - 1)
    }

    /// Pushes a Lua function that calls a host function.
    func pushFunction(_ function: LuaFunction, to L: OpaquePointer) {
        switch function.body {
        case .sync(let body): clua_push_function(L, add(.sync(name: function.name, body)), function.name, false)
        case .async(let body): clua_push_function(L, add(.async(name: function.name, body)), function.name, true)
        case .check(let body): clua_push_function(L, add(.check(body)), function.name, false)
        case .typed(let typed): pushTyped(typed, name: function.name, to: L)
        }
    }

    /// Reads the stack above the first `skipped` values as the arguments of a call.
    private func call(from L: OpaquePointer, of function: String, after skipped: Int32 = 0) throws -> LuaCall {
        let count = max(lua_gettop(L) - skipped, 0)
        var arguments: [LuaValue] = []
        arguments.reserveCapacity(Int(count))
        var cost = 0
        for index in 0..<count {
            lastReadingCost = 0
            do {
                arguments.append(try read(L, skipped + index + 1, name: UnreadableValue.argument(Int(index) + 1, of: function)))
            } catch let error as UnreadableValue {
                throw error.error(in: function)
            }
            cost += lastReadingCost
            guard cost <= Self.readingLimit else {
                throw LuaError.misuse(
                    "value.unsupported", "the arguments of \(function) have too many values or too much text together",
                    hint: "pass them in parts")
            }
        }
        return LuaCall(
            arguments: arguments, location: location(in: L), run: current?.run.id ?? LuaRunID(rawValue: 0),
            task: current?.number ?? 0, attachment: current?.run.attachment)
    }

    /// The nearest script line on the call stack.
    func location(in L: OpaquePointer) -> SourceLocation? {
        var chunk: UnsafePointer<CChar>?
        var line: Int32 = 0
        guard clua_nearest_frame(L, 0, &chunk, &line), let chunk else { return nil }
        let isSame = lastChunk.utf8.elementsEqual(
            UnsafeBufferPointer(start: chunk, count: strlen(chunk)).lazy.map(UInt8.init(bitPattern:)))
        if !isSame { lastChunk = String(cString: chunk) }
        return SourceLocation(chunk: lastChunk, line: Int(line))
    }

    // MARK: Operations

    func startOperation(_ L: OpaquePointer, _ body: @escaping @Sendable () async throws -> Answer) throws -> Int32 {
        guard let task = current else {
            throw LuaError.misuse(
                "lua.cannot_wait", "a prelude cannot wait while it is being loaded", hint: "wait in a function that scripts call")
        }
        lastOperation += 1
        let serial = lastOperation
        starting = serial
        // The body runs here until it suspends for the first time; most never do. Afterwards it continues on the thread.
        let operation = Task.immediate(executorPreference: thread) {
            let result: Result<Answer, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            self.operationEnded(serial, result)
        }
        starting = 0
        // While a cancelled task cleans up, operations work as long as they need not wait.
        if task.isCancelled { operation.cancel() }
        if let result = immediateResult {
            immediateResult = nil
            shareMemory()
            do {
                switch try result.get() {
                case .values(let values): return try push(values, to: L)
                case .slots(let write):
                    self.write(write)
                    return Int32(CLUA_SLOTS)
                }
            } catch {
                throw self.error(error, of: task)
            }
        }
        task.wait = .operation(serial: serial, task: operation)
        operationBegan(task.run)
        waiting[serial] = task
        return Int32(CLUA_PENDING)
    }

    /// Charges the run for its share of the thread's work outside of Lua while it has operations in progress.
    private func operationBegan(_ run: Run) {
        run.operations += 1
        guard run.chargedEntry == nil else { return }
        run.chargedEntry = thread.charge(run.control.account) { [weak run] in
            (run?.operations ?? 0) > 0
        } onSpent: { [weak self, weak run] in
            // The operation may still work for a long time: the run ends without waiting for it.
            guard let self, let run, !isClosed else { return }
            schedule(run)
            pump()
        }
    }

    func endCharge(of run: Run) {
        if let entry = run.chargedEntry { thread.endCharge(entry) }
        run.chargedEntry = nil
    }

    private func operationEnded(_ serial: Int, _ result: Result<Answer, any Error>) {
        if starting == serial {
            immediateResult = result
            return
        }
        guard !isClosed, let task = waiting[serial] else { return }  // the task stopped waiting in the meantime
        task.run.inbox.append(OperationResult(serial: serial, result: result))
        schedule(task.run)
        pump()
    }
}
