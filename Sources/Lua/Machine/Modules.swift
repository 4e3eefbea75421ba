import CLua

// Modules of the host: what scripts get from `require` and as globals.

extension Machine {
    func installHints(_ absent: [String: String]) {
        clua_push_hints(lua)
        for (name, hint) in absent.sorted(by: { $0.key < $1.key }) {
            push(name, to: lua)
            push(hint, to: lua)
            lua_rawset(lua, -3)
        }
        lua_settop(lua, 0)
    }

    /// Makes a module available. If that fails, its types and globals are removed again.
    func define(_ module: LuaModule) throws {
        defer { lua_settop(lua, 0) }
        _ = lua_checkstack(lua, 16)
        let types = objectTypes
        var replaced: [ReplacedGlobal] = []
        defer { for global in replaced { forget(global) } }
        do {
            for type in module.types { try define(type) }
            for function in module.globals { replaced.append(setGlobal(function)) }
            try build(module)
        } catch {
            // The types' registry entries remain, because a prelude may have stored an object.
            objectTypes = types
            for global in replaced.reversed() { restore(global) }
            throw error
        }
        clua_push_modules(lua)
        push(module.name, to: lua)
        lua_pushvalue(lua, -3)
        lua_rawset(lua, -3)
    }

    /// Pushes the module's value for scripts.
    private func build(_ module: LuaModule) throws {
        if let prelude = module.prelude {
            pushHost(module)
            let host = lua_gettop(lua)
            try load(prelude, to: lua, isTrusted: true)
            lua_pushvalue(lua, host)
            guard clua_call(lua, 1, 1) == LUA_OK else { throw readError(lua, -1, run: nil) }
            for script in module.laterPreludes {
                try load(script, to: lua, isTrusted: true)
                lua_pushvalue(lua, host)
                lua_pushvalue(lua, -3)
                guard clua_call(lua, 2, 1) == LUA_OK else { throw readError(lua, -1, run: nil) }
            }
        } else {
            lua_createtable(lua, 0, Int32(clamping: module.functions.count))
            for function in module.functions {
                push(function.shortName, to: lua)
                pushFunction(function, to: lua)
                lua_rawset(lua, -3)
            }
        }
    }

    /// Pushes the table that a prelude is called with.
    private func pushHost(_ module: LuaModule) {
        lua_createtable(lua, 0, 10)
        let host = lua_gettop(lua)
        lua_createtable(lua, 0, Int32(clamping: module.functions.count))
        for function in module.functions {
            push(function.name, to: lua)
            pushFunction(function, to: lua)
            lua_rawset(lua, -3)
        }
        lua_setfield(lua, host, "functions")
        lua_createtable(lua, 0, Int32(clamping: module.types.count))
        for type in module.types {
            push(type.name, to: lua)
            lua_rawgeti(lua, clua_registryindex(), Int64(objectTypes[type.name]?.methods ?? clua_noref()))
            lua_rawset(lua, -3)
        }
        lua_setfield(lua, host, "types")
        clua_push_traced(lua)
        lua_setfield(lua, host, "traced")
        clua_push_is_error(lua)
        lua_setfield(lua, host, "is_error")
        clua_push_raise(lua)
        lua_setfield(lua, host, "raise")
        clua_push_list(lua)
        lua_setfield(lua, host, "list")
        clua_push_is_list(lua)
        lua_setfield(lua, host, "is_list")
        let builtins: [(name: String, waits: Bool, body: @Sendable (Machine, OpaquePointer) throws -> Int32)] = [
            ("spawn", false, { try $0.spawn($1, isDaemon: false) }),
            ("spawn_daemon", false, { try $0.spawn($1, isDaemon: true) }),
            ("all", true, { try $0.all($1) }),
        ]
        for builtin in builtins {
            clua_push_function(lua, add(.builtin(builtin.body)), builtin.name, builtin.waits)
            lua_setfield(lua, host, builtin.name)
        }
    }

    // MARK: Globals

    /// The previous value of a global that a module replaced. `table` and `value` are references into the registry.
    private struct ReplacedGlobal {
        let table: Int32
        let name: String
        let value: Int32
    }

    /// Pops the current value of a name in the table below it and records it.
    private func remember(_ name: String) -> ReplacedGlobal {
        let value = luaL_ref(lua, clua_registryindex())
        lua_pushvalue(lua, -1)
        return ReplacedGlobal(table: luaL_ref(lua, clua_registryindex()), name: name, value: value)
    }

    private func restore(_ global: ReplacedGlobal) {
        lua_rawgeti(lua, clua_registryindex(), Int64(global.table))
        push(global.name, to: lua)
        lua_rawgeti(lua, clua_registryindex(), Int64(global.value))
        lua_rawset(lua, -3)
        clua_pop(lua, 1)
    }

    private func forget(_ global: ReplacedGlobal) {
        luaL_unref(lua, clua_registryindex(), global.table)
        luaL_unref(lua, clua_registryindex(), global.value)
    }

    /// Sets a global such as `print` or `os.time`. Returns the first value replaced along the path.
    private func setGlobal(_ function: LuaFunction) -> ReplacedGlobal {
        let path = function.name.split(separator: ".").map(String.init)
        var replaced: ReplacedGlobal?
        clua_push_globals(lua)
        for name in path.dropLast() {
            push(name, to: lua)
            if lua_rawget(lua, -2) != LUA_TTABLE {
                let global = remember(name)
                if replaced == nil { replaced = global } else { forget(global) }
                lua_createtable(lua, 0, 4)
                push(name, to: lua)
                lua_pushvalue(lua, -2)
                lua_rawset(lua, -4)
            }
            clua_remove(lua, -2)
        }
        let name = path.last ?? function.name
        push(name, to: lua)
        lua_rawget(lua, -2)
        let global = remember(name)
        if replaced != nil { forget(global) }
        push(name, to: lua)
        pushFunction(function, to: lua)
        lua_rawset(lua, -3)
        clua_pop(lua, 1)
        return replaced ?? global
    }

    // MARK: Types

    private func define(_ type: LuaObjectType) throws {
        guard objectTypes[type.name] == nil else {
            throw LuaError.misuse("value.duplicate_type", "the type '\(type.name)' is already defined")
        }
        lua_createtable(lua, 0, Int32(clamping: type.methods.count))
        let methods = lua_gettop(lua)
        for method in type.methods {
            push(method.shortName, to: lua)
            pushFunction(method, to: lua)
            lua_rawset(lua, methods)
        }
        lua_pushvalue(lua, methods)
        let methodsReference = luaL_ref(lua, clua_registryindex())
        let property = add(.builtin { try $0.readProperty($1, of: type, methods: methodsReference) })
        var describe: Int64 = -1
        if let text = type.describe {
            describe = add(
                .builtin { machine, L in
                    guard let object = machine.object(L, 1) as? LuaObject else { return 0 }
                    machine.push(text(object.payload), to: L)
                    return 1
                })
        }
        clua_push_object_type(lua, type.name, methods, property, describe)
        objectTypes[type.name] = (luaL_ref(lua, clua_registryindex()), methodsReference)
        lua_settop(lua, methods - 1)
    }

    private func readProperty(_ L: OpaquePointer, of type: LuaObjectType, methods: Int32) throws -> Int32 {
        if let property = type.property, let object = object(L, 1) as? LuaObject, let name = readString(L, 2),
            let value = property(object.payload, name)
        {
            return try push([value], to: L)
        }
        var names = type.propertyNames
        lua_rawgeti(L, clua_registryindex(), Int64(methods))
        lua_pushnil(L)
        while lua_next(L, -2) != 0 {
            clua_pop(L, 1)
            if let name = readString(L, -1) { names.append(name) }
        }
        clua_pop(L, 1)
        throw unknownName(L, type: type.name, names: names)
    }

    func unknownName(_ L: OpaquePointer, type: String, names: [String]) -> LuaError {
        .unknownMember(readString(L, 2) ?? "?", of: type, names: names)
    }
}

/// The Levenshtein distance between two names, over at most 64 characters each.
func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right.unicodeScalars.prefix(64))
    var row = Array(0...right.count)
    for (index, letter) in left.unicodeScalars.prefix(64).enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for column in right.indices {
            let replaced = diagonal + (right[column] == letter ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
        }
    }
    return row[right.count]
}
