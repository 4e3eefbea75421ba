import CLua

// `require` for modules from the search path; see modules.c.

/// A module that is currently being loaded.
final class ModuleLoad {
    let name: String
    unowned let task: ScriptTask
    /// Tasks that required the module while it was loading.
    var waiters: [ScriptTask] = []

    init(name: String, task: ScriptTask) {
        self.name = name
        self.task = task
    }
}

extension Machine {
    /// The first functions of every machine, in the order of `CLUA_LOADER_FIND`, `…_OPEN` and `…_FINISH`.
    static let loader: [Function] = [
        .builtin { try $0.findModule($1) }, .builtin { try $0.openModule($1) },
        .builtin { machine, L in
            if let name = machine.readString(L, 1), let load = machine.current?.run.moduleLoads[name] { machine.endLoad(load) }
            return 0
        },
    ]

    /// `find(name)`: returns true if the caller has to load the module.
    private func findModule(_ L: OpaquePointer) throws -> Int32 {
        let name = try LuaSearchPath.check(readString(L, 1))
        guard searchPath != nil, let task = current else { throw unknownModule(name) }
        guard let load = task.run.moduleLoads[name] else {
            lua_pushboolean(L, 1)
            return 1
        }
        if let chain = chain(to: task, from: load) {
            throw LuaError.misuse(
                "script.module_cycle",
                "the module '\(name)' is required while it is being loaded: \(chain.joined(separator: " → "))",
                hint: "call one of the two requires in a function, when the module is needed")
        }
        guard context.pointee.no_yield == 0, lua_isyieldable(L) != 0 else {
            throw LuaError.misuse(
                "lua.cannot_wait", "require cannot wait here for another task that is loading '\(name)'",
                hint: "require it at the top of the script")
        }
        if task.isCancelled { throw task.cancellation }
        load.waiters.append(task)
        task.wait = .module(load)
        return Int32(CLUA_PENDING)
    }

    /// The cycle of modules through which the task would wait for itself if it waited for `load`; nil if there is none.
    private func chain(to task: ScriptTask, from load: ModuleLoad) -> [String]? {
        var chain: [String] = []
        var next = load
        var seen: Set<ObjectIdentifier> = []
        while seen.insert(ObjectIdentifier(next)).inserted {
            chain += next.task.moduleLoads.drop { $0 !== next }.map(\.name)
            if next.task === task { return chain + [load.name] }
            guard case .module(let wanted) = next.task.wait else { return nil }
            next = wanted
        }
        return nil
    }

    /// `open(name)`: returns the chunk and its path.
    private func openModule(_ L: OpaquePointer) throws -> Int32 {
        guard let task = current, let name = readString(L, 1) else { return 0 }
        let load = ModuleLoad(name: name, task: task)
        task.run.moduleLoads[name] = load
        task.moduleLoads.append(load)
        try task.run.control.account.charge(.files, 1)
        guard let script = try searchPath?.script(for: name) else { throw unknownModule(name) }
        try self.load(script, to: L, for: task.run)
        push(script.path, to: L)
        return 2
    }

    /// Ends the load, whether it succeeded or failed, and resumes the waiting tasks.
    func endLoad(_ load: ModuleLoad) {
        guard load.task.run.moduleLoads[load.name] === load else { return }
        load.task.run.moduleLoads[load.name] = nil
        load.task.moduleLoads.removeAll { $0 === load }
        for waiter in load.waiters { resume(waiter, count: 0, kind: CLUA_RESUME_VALUES) }
        load.waiters = []
    }

    private func unknownModule(_ name: String) -> LuaError {
        var names: Set<String> = []
        clua_push_modules(lua)
        lua_pushnil(lua)
        while lua_next(lua, -2) != 0 {
            clua_pop(lua, 1)
            if let known = readString(lua, -1) { names.insert(known) }
        }
        clua_pop(lua, 1)
        return (searchPath ?? .none).unknown(name, beside: names)
    }
}
