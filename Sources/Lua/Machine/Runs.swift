import CLua

// The start and the end of runs.

extension Machine {
    func start(_ body: RunBody, arguments: [LuaValue], run: Run) {
        if isClosed {
            table.remove(run.id)
            return run.control.end(with: .failure(LuaError.stateEnded(run.annotations)))
        }
        runs[run.id] = run
        if run.control.isCancelled {
            run.forcedError = .cancelled
            return finish(run)
        }
        prepare(run)
        let main = newTask(run)
        main.holders = 1
        run.main = main
        do {
            switch body {
            case .script(let script): try load(script, to: main.coroutine, for: run)
            case .function(let function): try push([.function(function)], to: main.coroutine)
            }
            let count = try push(arguments, to: main.coroutine)
            clua_task_prepare(main.coroutine, count)
        } catch {
            var error = LuaError(raisedByHost: error)
            if context.pointee.is_abandoned { return endStateIfAbandoned(by: run, error) }
            lua_settop(main.coroutine, 0)
            error.annotations = run.annotations
            run.forcedError = error
            run.removeAllTasks()
            main.end = .failure
            return finish(run)
        }
        if let wall = run.limits.wall { startWallTimer(run, wall) }
        run.ready.append(main)
        schedule(run)
        pump()
    }

    /// Creates the run's registry entries: its globals and the annotations of its errors.
    func prepare(_ run: Run) {
        let pointer = run.control.pointer
        _ = lua_checkstack(lua, 8)
        if let globals = run.globals {
            lua_rawgeti(lua, clua_registryindex(), Int64(globals.environment))
            pointer.pointee.environment = luaL_ref(lua, clua_registryindex())
            lua_rawgeti(lua, clua_registryindex(), Int64(globals.loaded))
            pointer.pointee.loaded = luaL_ref(lua, clua_registryindex())
        } else {
            pushNewGlobals()
            pointer.pointee.environment = luaL_ref(lua, clua_registryindex())
        }
        if !run.annotations.isEmpty {
            lua_createtable(lua, 0, Int32(clamping: run.annotations.count))
            for (name, value) in run.annotations.sorted(by: { $0.key < $1.key }) {
                push(name, to: lua)
                push(value, to: lua)
                lua_rawset(lua, -3)
            }
            pointer.pointee.annotations = luaL_ref(lua, clua_registryindex())
        }
        lua_settop(lua, 0)
    }

    private func pushNewGlobals() {
        if library == .sandboxed { clua_push_run_globals(lua) } else { clua_push_globals(lua) }
    }

    /// Creates globals that several runs can share.
    func makeGlobals() -> ProgramGlobals {
        _ = lua_checkstack(lua, 8)
        pushNewGlobals()
        let environment = luaL_ref(lua, clua_registryindex())
        lua_createtable(lua, 0, 0)
        return ProgramGlobals(environment: environment, loaded: luaL_ref(lua, clua_registryindex()), bin: bin)
    }

    private func startWallTimer(_ run: Run, _ wall: Duration) {
        let deadline = clua_monotonic_ns().addingReportingOverflow(wall.nanoseconds)
        run.control.pointer.pointee.deadline_ns = deadline.overflow ? .max : deadline.partialValue
        run.wallTimer = stop(run, after: wall, Int32(CLUA_STOP_WALL))
    }

    /// Stops a run after a period of real time, unless the run has ended or the returned task is cancelled before.
    func stop(_ run: Run, after time: Duration, _ reason: Int32) -> Task<Void, Never> {
        let id = run.id
        let control = run.control
        return Task(executorPreference: thread) { [weak self] in
            // Task.sleep crashes on durations that it cannot represent.
            guard (try? await Task.sleep(for: min(time, .seconds(1_000_000_000)))) != nil, let self else { return }
            guard !isClosed, let run = runs[id], run.control === control else { return }
            if control.pointer.pointee.stop == 0 { control.pointer.pointee.stop = reason }
            schedule(run)
            pump()
        }
    }

    /// Pushes the compiled script. With a run, the script gets the run's globals and its compilation is charged to the run; without one it
    /// gets the state's.
    func load(_ script: LuaScript, to L: OpaquePointer, for run: Run? = nil, isTrusted: Bool = false) throws {
        let status = script.compilable.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                let control = run?.control.pointer
                let status = clua_load(L, control, $0.baseAddress, $0.count, script.chunkName, isTrusted)
                if status == LUA_OK, let control { clua_bind_globals(L, control, $0.baseAddress, $0.count) }
                return status
            }
        }
        guard status != LUA_OK else { return }
        guard status != CLUA_ABANDONED else {
            throw LuaError.endlessStep(at: SourceLocation(chunk: String(script.chunkName.dropFirst()), line: 1))
        }
        defer { clua_pop(L, 1) }
        if let stopped = run.flatMap(stopError) { throw stopped }
        var error = readError(L, -1, run: nil)
        if status == LUA_ERRSYNTAX || error.code == "script.error" {
            error.kind = .syntax
            error.code = "script.syntax"
        }
        throw error
    }

    // MARK: The end

    /// Finishes a run, all of whose tasks have ended.
    func finish(_ run: Run) {
        guard !run.isFinished else { return }
        run.isFinished = true
        run.endTimers()
        endCharge(of: run)
        let result = result(of: run)
        release(run)
        runs[run.id] = nil
        table.remove(run.id)
        run.control.end(with: result)
    }

    private func result(of run: Run) -> Result<[LuaValue], any Error> {
        var error: LuaError?
        // A final library call may have exceeded the budget without reaching the hook.
        _ = clua_run_check(run.control.pointer)
        if let forced = run.forcedError {
            error = forced
        } else if var stopped = stopError(run) {
            if stopped.location == nil, let task = run.rootFailure {
                // If the call that used up the budget raised an error with the same code, use the line of that error.
                let last = readError(task.coroutine, -1, run: run)
                if last.code == stopped.code { (stopped.location, stopped.traceback) = (last.location, last.traceback) }
            }
            error = stopped
        } else if run.control.isCancelled {
            var cancelled = LuaError.cancelled
            if let task = run.rootFailure ?? run.unawaitedFailures.first {
                let last = readError(task.coroutine, -1, run: run)
                cancelled.location = last.location
                cancelled.traceback = last.traceback
            }
            error = cancelled
        } else if let task = run.rootFailure ?? run.unawaitedFailures.first {
            error = readError(task.coroutine, -1, run: run)
        }
        if var error {
            error.annotations.merge(run.annotations) { own, _ in own }
            return .failure(error)
        }
        guard let main = run.main else { return .success([]) }
        do {
            let count = lua_gettop(main.coroutine)
            return .success(
                try (0..<count).map { try read(main.coroutine, $0 + 1, name: "result \($0 + 1)") })
        } catch {
            var error = LuaError(raisedByHost: error)
            error.annotations = run.annotations
            return .failure(error)
        }
    }

    private func release(_ run: Run) {
        for task in [run.main, run.rootFailure].compactMap({ $0 }) + run.unawaitedFailures {
            task.holders = 0
            releaseAnchor(task)
        }
        run.unawaitedFailures = []
        run.rootFailure = nil
        run.main = nil
        let pointer = run.control.pointer
        let references = [
            pointer.pointee.environment, pointer.pointee.annotations, pointer.pointee.origins, pointer.pointee.texts,
            pointer.pointee.loaded,
        ]
        for reference in references { luaL_unref(lua, clua_registryindex(), reference) }
        pointer.pointee.environment = clua_noref()
        pointer.pointee.annotations = clua_noref()
        pointer.pointee.origins = clua_noref()
        pointer.pointee.texts = clua_noref()
        pointer.pointee.loaded = clua_noref()
    }
}

extension Machine {
    /// Compiles a script and discards the result.
    func check(_ script: LuaScript) throws {
        try checkOpen()
        defer { endStateIfAbandoned() }
        try load(script, to: lua)
        lua_settop(lua, 0)
    }
}
