import CLua

// The Lua functions spawn, await, cancel and all.

extension Machine {
    static let taskTypeName = "task"

    /// The registry reference of the task metatable. It is created for the first task, because most states have none.
    private func metatableOfTasks() -> Int32 {
        if taskMetatable != clua_noref() { return taskMetatable }
        _ = lua_checkstack(lua, 8)
        let top = lua_gettop(lua)
        lua_createtable(lua, 0, 2)
        let methods = lua_gettop(lua)
        clua_push_function(lua, add(.builtin { try $0.awaitTask($1) }), "task:await", true)
        lua_setfield(lua, methods, "await")
        clua_push_function(lua, add(.builtin { try $0.cancelTask($1) }), "task:cancel", false)
        lua_setfield(lua, methods, "cancel")
        let property = add(
            .builtin { machine, L in throw machine.unknownName(L, type: Self.taskTypeName, names: ["await", "cancel"]) }
        )
        clua_push_object_type(lua, Self.taskTypeName, methods, property, -1)
        taskMetatable = luaL_ref(lua, clua_registryindex())
        lua_settop(lua, top)
        return taskMetatable
    }

    // MARK: Making tasks

    /// Creates a task from the function and the arguments at `index...`, which stay on the stack.
    private func makeTask(_ L: OpaquePointer, from index: Int32, count: Int32, isDaemon: Bool) throws -> ScriptTask {
        guard let parent = current else {
            throw LuaError.misuse("script.no_run", "a prelude cannot start tasks while it is being loaded")
        }
        let run = parent.run
        guard lua_type(L, index) == LUA_TFUNCTION else {
            throw LuaError.misuse("script.bad_argument", "a task needs a function to run")
        }
        if parent.isCancelled { throw LuaError.taskCancelled }
        if run.control.account.used(.tasks) > run.limits.tasks {
            throw LuaError.taskBudget(run.limits.tasks)
        }
        let task = newTask(run, isDaemon: isDaemon, parent: parent)
        _ = lua_checkstack(L, count + 2)
        _ = lua_checkstack(task.coroutine, count + 8)
        for offset in 0..<count { lua_pushvalue(L, index + offset) }
        lua_xmove(L, task.coroutine, count)
        clua_task_prepare(task.coroutine, count - 1)
        parent.children[task.number] = task
        if !isDaemon { run.liveChildren += 1 }
        run.ready.append(task)
        return task
    }

    /// Creates a task with an empty coroutine.
    func newTask(_ run: Run, isDaemon: Bool = false, parent: ScriptTask? = nil) -> ScriptTask {
        _ = lua_checkstack(lua, 4)
        guard let coroutine = lua_newthread(lua) else { preconditionFailure("lua_newthread gives a thread") }
        let anchor = luaL_ref(lua, clua_registryindex())
        let task = ScriptTask(
            number: run.lastTask, isDaemon: isDaemon, run: run, parent: parent, coroutine: coroutine, anchor: anchor)
        run.lastTask += 1
        run.add(task)
        return task
    }

    func releaseAnchor(_ task: ScriptTask) {
        guard task.end != nil, task.holders == 0, task.anchor != clua_noref() else { return }
        luaL_unref(lua, clua_registryindex(), task.anchor)
        task.anchor = clua_noref()
    }

    /// `spawn(f, ...)`
    func spawn(_ L: OpaquePointer, isDaemon: Bool) throws -> Int32 {
        let task = try makeTask(L, from: 1, count: lua_gettop(L), isDaemon: isDaemon)
        pushObject(task, metatable: metatableOfTasks(), to: L)
        lua_rawgeti(L, clua_registryindex(), Int64(task.anchor))
        lua_setiuservalue(L, -2, 1)  // the results are on the coroutine's stack, so the object must keep the coroutine alive
        return 1
    }

    // MARK: await and cancel

    private func task(_ L: OpaquePointer) throws -> ScriptTask {
        guard let task = object(L, 1) as? ScriptTask else {
            throw LuaError.misuse("script.bad_argument", "call it with a colon, on a task: task:await()")
        }
        return task
    }

    private func awaitTask(_ L: OpaquePointer) throws -> Int32 {
        let task = try task(L)
        guard let caller = current else { throw LuaError.misuse("script.no_run", "no run is active") }
        if task === caller { throw LuaError.misuse("script.deadlock", "a task cannot wait for itself") }
        if task.end == nil, task.run !== caller.run {
            throw LuaError.misuse("script.bad_argument", "the task belongs to another run")
        }
        observe(task)
        if caller.isCancelled { throw LuaError.taskCancelled }
        if let end = task.end {
            let count = copyResult(of: task, to: L)
            return end == .results ? count : Int32(CLUA_RERAISE)
        }
        task.waiters.append(caller)
        caller.wait = .task(task)
        return Int32(CLUA_PENDING)
    }

    private func cancelTask(_ L: OpaquePointer) throws -> Int32 {
        cancel(try task(L))
        return 0
    }

    /// Marks the result as requested, so that a failure no longer fails the run by itself.
    private func observe(_ task: ScriptTask) {
        guard !task.isObserved else { return }
        task.isObserved = true
        if let index = task.run.unawaitedFailures.firstIndex(where: { $0 === task }) {
            task.run.unawaitedFailures.remove(at: index)
            task.holders -= 1
            releaseAnchor(task)
        }
    }

    /// Pushes the results of an ended task, or its error, and returns their number.
    private func copyResult(of task: ScriptTask, to L: OpaquePointer) -> Int32 {
        let count = task.end == .failure ? min(1, lua_gettop(task.coroutine)) : lua_gettop(task.coroutine)
        guard lua_checkstack(task.coroutine, count) != 0, lua_checkstack(L, count + 1) != 0 else { return 0 }
        let first = lua_gettop(task.coroutine) - count + 1
        for offset in 0..<count { lua_pushvalue(task.coroutine, first + offset) }
        lua_xmove(task.coroutine, L, count)
        if task.end == .failure, count == 0 { lua_pushnil(L) }
        return task.end == .failure ? 1 : count
    }

    func handOver(_ task: ScriptTask, to waiter: ScriptTask) {
        let count = copyResult(of: task, to: waiter.coroutine)
        resume(waiter, count: count, kind: task.end == .results ? CLUA_RESUME_VALUES : CLUA_RESUME_RERAISE)
    }

    // MARK: all

    /// `all{f, task, ...}`
    func all(_ L: OpaquePointer) throws -> Int32 {
        guard let caller = current else { throw LuaError.misuse("script.no_run", "no run is active") }
        guard lua_type(L, 1) == LUA_TTABLE else {
            throw LuaError.misuse("script.bad_argument", "all needs a list of functions or tasks")
        }
        if caller.isCancelled { throw LuaError.taskCancelled }
        let count = Int64(lua_rawlen(L, 1))
        _ = lua_checkstack(L, 8)
        // Validate all members before starting any.
        var indices: [ObjectIdentifier: Int64] = [:]
        for index in stride(from: 1, through: count, by: 1) {
            let type = lua_rawgeti(L, 1, index)
            let task = object(L, -1) as? ScriptTask
            clua_pop(L, 1)
            if type == LUA_TFUNCTION { continue }
            guard let task, task.run === caller.run else {
                throw LuaError.misuse("script.bad_argument", "value \(index) of the list is neither a function nor a task of this run")
            }
            if task === caller {
                throw LuaError.misuse(
                    "script.bad_argument", "value \(index) of the list is the calling task, which would wait for itself",
                    hint: "leave it out of the list")
            }
            if let first = indices.updateValue(index, forKey: ObjectIdentifier(task)) {
                throw LuaError.misuse(
                    "script.bad_argument", "value \(index) of the list is the same task as value \(first)",
                    hint: "list each task once; task:await() returns its result again")
            }
        }
        var members: [ScriptTask] = []
        for position in 0..<count {
            lua_rawgeti(L, 1, position + 1)
            defer { clua_pop(L, 1) }
            if let task = object(L, -1) as? ScriptTask {
                members.append(task)
            } else {
                do {
                    members.append(try makeTask(L, from: lua_gettop(L), count: 1, isDaemon: false))
                } catch {
                    // The caller receives this error, so nothing waits for the members started so far.
                    for member in members { cancel(member) }
                    throw error
                }
            }
        }
        let group = AllWait(caller: caller, members: members)
        for member in members {
            observe(member)
            member.holders += 1
            guard member.end == nil else { continue }
            member.groups.append(group)
            group.remaining += 1
        }
        for member in members where member.end == .failure && group.root == nil { failGroup(group, with: member) }
        guard group.remaining > 0 else {
            // All members have ended already, so there is nothing to wait for.
            defer { releaseGroup(group) }
            if let root = group.root {
                _ = copyResult(of: root, to: L)
                return Int32(CLUA_RERAISE)
            }
            pushResults(of: group, to: L)
            return 1
        }
        caller.wait = .all(group)
        return Int32(CLUA_PENDING)
    }

    func memberEnded(_ task: ScriptTask, of group: AllWait) {
        group.remaining -= 1
        if task.end == .failure, group.root == nil { failGroup(group, with: task) }
        if group.remaining == 0 { finishGroup(group) }
    }

    private func failGroup(_ group: AllWait, with task: ScriptTask) {
        group.root = task
        for member in group.members { cancel(member) }
    }

    private func finishGroup(_ group: AllWait) {
        guard case .all(let waited) = group.caller.wait, waited === group else { return releaseGroup(group) }
        let L = group.caller.coroutine
        _ = lua_checkstack(L, 8)
        if group.isCancelled {
            resume(group.caller, raising: group.caller.cancellation)
        } else if let root = group.root {
            resume(group.caller, count: copyResult(of: root, to: L), kind: CLUA_RESUME_RERAISE)
        } else {
            pushResults(of: group, to: L)
            resume(group.caller, count: 1, kind: CLUA_RESUME_VALUES)
        }
        releaseGroup(group)
    }

    /// Pushes a list of the members' first results, with the number of members as `n`.
    private func pushResults(of group: AllWait, to L: OpaquePointer) {
        lua_createtable(L, Int32(clamping: group.members.count), 1)
        for (index, member) in group.members.enumerated() where lua_gettop(member.coroutine) > 0 {
            lua_pushvalue(member.coroutine, 1)
            lua_xmove(member.coroutine, L, 1)
            lua_rawseti(L, -2, Int64(index + 1))
        }
        lua_pushinteger(L, Int64(group.members.count))
        lua_setfield(L, -2, "n")
    }

    func releaseGroup(_ group: AllWait) {
        guard !group.isReleased else { return }
        group.isReleased = true
        for member in group.members {
            member.holders -= 1
            releaseAnchor(member)
        }
    }
}
