import CLua

// Converts values between the Lua stack and Swift. Uses raw access only: nothing here calls a metamethod or can raise an error.

/// The path to a value, for error messages. Its text is built only if something is wrong.
private struct DecodingState {
    enum Step: CustomStringConvertible {
        case name(String)
        case key(String)
        case position(Int64)

        var description: String {
            switch self {
            case .name(let name): name
            case .key(let key): "." + key
            case .position(let position): "[\(position)]"
            }
        }
    }

    var path: [Step]
    var text: String { path.map(\.description).joined() }
    var open: [UnsafeRawPointer] = []
    var remaining = Machine.readingLimit
    var collisionGuard = CollisionGuard()
}

/// Detects a table whose keys were chosen to collide, so that each access is slow. The host cannot be interrupted there, so it gives up by
/// itself.
private struct CollisionGuard {
    private let begin = clua_ticks()
    private var keys = 0

    /// Call it for each key, with the number of values so far. Returns true after one second of CPU time if the values took more than 16 µs
    /// each on average. Most take less than 1 µs.
    mutating func isOver(after values: Int) -> Bool {
        keys += 1
        guard keys & 0x3FF == 0 else { return false }
        let ticks = clua_ticks() - begin  // ticks of 5 ms
        return ticks > 200 && ticks * 300 > values
    }
}

extension Machine {
    // MARK: Reading

    /// Maximum number of values that one call may pass to the host. Each 64 bytes of text in tables count as one more.
    static let readingLimit = 250_000

    /// Reads the value at an index. `name` describes it in errors.
    func read(_ L: OpaquePointer, _ index: Int32, name: @autoclosure () -> String = "the value") throws -> LuaValue {
        switch lua_type(L, index) {
        case LUA_TNIL, LUA_TNONE: return .nil
        case LUA_TBOOLEAN: return .boolean(lua_toboolean(L, index) != 0)
        case LUA_TNUMBER:
            if lua_isinteger(L, index) != 0 { return .integer(lua_tointegerx(L, index, nil)) }
            return .number(lua_tonumberx(L, index, nil))
        case LUA_TSTRING: return readText(L, index)
        case LUA_TTABLE:
            var state = DecodingState(path: [.name(name())])
            defer { lastReadingCost = Self.readingLimit - state.remaining }
            return .table(try readTable(L, lua_absindex(L, index), &state))
        default: return try readReference(L, index, path: { name() })
        }
    }

    private func readText(_ L: OpaquePointer, _ index: Int32) -> LuaValue {
        var count = 0
        guard let text = clua_tostring(L, index, &count) else { return .nil }
        let bytes = UnsafeRawBufferPointer(start: text, count: count)
        if let string = String(validating: bytes, as: UTF8.self) { return .string(string) }
        return .bytes(Array(bytes))
    }

    /// The string at an index; `nil` if there is none or it is not UTF-8.
    func readString(_ L: OpaquePointer, _ index: Int32) -> String? {
        guard lua_type(L, index) == LUA_TSTRING, case .string(let string) = readText(L, index) else { return nil }
        return string
    }

    private func readReference(_ L: OpaquePointer, _ index: Int32, path: () -> String) throws -> LuaValue {
        switch lua_type(L, index) {
        case LUA_TFUNCTION:
            var chunk: UnsafePointer<CChar>?
            var line: Int32 = 0
            let isKnown = clua_definition(L, index, &chunk, &line)
            let definition = isKnown ? chunk.map { SourceLocation(chunk: String(cString: $0), line: Int(line)) } : nil
            lua_pushvalue(L, index)
            return .function(
                LuaFunctionReference(reference: luaL_ref(L, clua_registryindex()), definition: definition, bin: bin))
        case LUA_TUSERDATA:
            if let object = object(L, index) as? LuaObject { return .object(object) }
            fallthrough
        default:
            let type = String(cString: lua_typename(L, lua_type(L, index)))
            throw UnreadableValue(
                path(), "is a \(type), which cannot be passed to the host",
                hint: "pass strings, numbers, Booleans, functions, or tables of these")
        }
    }

    private func readTable(_ L: OpaquePointer, _ table: Int32, _ state: inout DecodingState) throws -> LuaTable {
        func unsupported(_ reason: String, hint: String) -> UnreadableValue { UnreadableValue(state.text, reason, hint: hint) }
        guard let identity = lua_topointer(L, table), !state.open.contains(identity) else {
            throw unsupported("contains itself", hint: "replace the reference by a name or a number")
        }
        guard state.open.count < 64, lua_checkstack(L, 4) != 0 else {
            throw unsupported("is nested too deeply", hint: "at most 64 levels are allowed")
        }
        state.open.append(identity)
        defer { state.open.removeLast() }
        var result = LuaTable(isList: clua_is_list(L, table))
        var position: Int64 = 1
        while lua_rawgeti(L, table, position) != LUA_TNIL {
            result.array.append(try readElement(L, &state, .position(position)))
            position += 1
        }
        clua_pop(L, 1)
        lua_pushnil(L)
        while lua_next(L, table) != 0 {
            switch lua_type(L, -2) {
            case LUA_TSTRING:
                guard !state.collisionGuard.isOver(after: Self.readingLimit - state.remaining) else {
                    clua_pop(L, 2)
                    throw unsupported("takes too long to read: many of its keys have the same hash", hint: "pass it in parts")
                }
                guard let key = readString(L, -2) else {
                    clua_pop(L, 2)
                    throw unsupported("has a key that is not UTF-8", hint: "use UTF-8 for its names")
                }
                do {
                    result.fields[key] = try readElement(L, &state, .key(key))
                } catch {
                    clua_pop(L, 1)
                    throw error
                }
            case LUA_TNUMBER where lua_isinteger(L, -2) != 0 && (1..<position).contains(lua_tointegerx(L, -2, nil)):
                clua_pop(L, 1)
            case LUA_TNUMBER:
                let key = lua_isinteger(L, -2) != 0 ? "\(lua_tointegerx(L, -2, nil))" : "\(lua_tonumberx(L, -2, nil))"
                clua_pop(L, 2)
                throw unsupported(
                    "has the key [\(key)], which is neither a name nor part of a list without holes",
                    hint: "fill the list from 1 without nil, or write the key as a string: [\"\(key)\"]")
            default:
                let type = String(cString: lua_typename(L, lua_type(L, -2)))
                clua_pop(L, 2)
                throw unsupported("has a \(type) as a key", hint: "use strings as keys, for example from tostring, or a list")
            }
        }
        return result
    }

    /// Reads the topmost value and pops it, whether or not it can be read.
    private func readElement(_ L: OpaquePointer, _ state: inout DecodingState, _ step: DecodingState.Step) throws
        -> LuaValue
    {
        defer { clua_pop(L, 1) }
        state.remaining -= 1 + (lua_type(L, -1) == LUA_TSTRING ? Int(lua_rawlen(L, -1)) / 64 : 0)
        // A small table can describe a huge tree, by naming its parts twice on every level.
        guard state.remaining > 0 else {
            throw UnreadableValue("\(state.path[0])", "has too many values or too much text", hint: "pass it in parts")
        }
        guard lua_type(L, -1) == LUA_TTABLE else {
            return try read(L, -1, name: state.text + step.description)
        }
        state.path.append(step)
        defer { state.path.removeLast() }
        return .table(try readTable(L, lua_absindex(L, -1), &state))
    }

    /// The host object that a userdata contains.
    func object(_ L: OpaquePointer, _ index: Int32) -> AnyObject? {
        guard let pointer = clua_to_object(L, index) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
    }

    // MARK: Writing

    /// Pushes values: all of them, or none if one cannot be pushed.
    @discardableResult
    func push(_ values: [LuaValue], to L: OpaquePointer) throws -> Int32 {
        let top = lua_gettop(L)
        guard lua_checkstack(L, Int32(clamping: values.count + 8)) != 0 else {
            throw LuaError.misuse("value.unsupported", "too many values at once")
        }
        do {
            for value in values { try push(value, to: L, depth: 0) }
        } catch {
            lua_settop(L, top)
            throw error
        }
        return Int32(values.count)
    }

    func push(_ value: LuaValue, to L: OpaquePointer, depth: Int) throws {
        pushedValues &+= 1
        switch value {
        case .nil: lua_pushnil(L)
        case .boolean(let flag): lua_pushboolean(L, flag ? 1 : 0)
        case .integer(let number): lua_pushinteger(L, number)
        case .number(let number): lua_pushnumber(L, number)
        case .string(let text): push(text, to: L)
        case .bytes(let bytes): push(bytes: bytes, to: L)
        case .table(let table): try push(table, to: L, depth: depth)
        case .function(let function):
            guard function.bin === bin else {
                throw LuaError.misuse("value.unsupported", "a function of another Lua state")
            }
            lua_rawgeti(L, clua_registryindex(), Int64(function.reference))
        case .object(let object):
            guard let type = objectTypes[object.type] else {
                throw LuaError.misuse("value.unsupported", "no module has defined the type '\(object.type)'")
            }
            pushObject(object, metatable: type.metatable, to: L)
        }
    }

    func push(_ text: String, to L: OpaquePointer) {
        var text = text
        text.withUTF8 { push(bytes: $0, to: L) }
    }

    private func push(bytes: some Sequence<UInt8>, to L: OpaquePointer) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { buffer in
            UnsafeRawBufferPointer(buffer).withMemoryRebound(to: CChar.self) { characters in
                // With a null pointer lua_pushlstring would push nil.
                if let start = characters.baseAddress, characters.count > 0 {
                    _ = lua_pushlstring(L, start, characters.count)
                } else {
                    _ = lua_pushstring(L, "")
                }
            }
        }
        if done == nil { push(bytes: Array(bytes), to: L) }
    }

    private func push(_ table: LuaTable, to L: OpaquePointer, depth: Int) throws {
        guard depth < 64, lua_checkstack(L, 6) != 0 else {
            throw LuaError.misuse("value.unsupported", "a table is nested too deeply")
        }
        lua_createtable(L, Int32(clamping: table.array.count), Int32(clamping: table.fields.count))
        for (index, value) in table.array.enumerated() {
            try push(value, to: L, depth: depth + 1)
            lua_rawseti(L, -2, Int64(index + 1))
        }
        // In a fixed order, so that equal values make equal tables in every process.
        let keys = table.fields.keys.sorted()
        var collisionGuard = CollisionGuard()
        let before = pushedValues
        for key in keys {
            if collisionGuard.isOver(after: pushedValues - before) {
                throw LuaError.misuse("value.unsupported", "a table takes too long to write: many of its keys have the same hash")
            }
            push(key, to: L)
            try push(table.fields[key] ?? .nil, to: L, depth: depth + 1)
            lua_rawset(L, -3)
        }
        if table.isList { clua_mark_list(L) }
    }

    /// Pushes the object's userdata, or a new one if it has none.
    func pushObject(_ object: AnyObject, metatable: Int32, to L: OpaquePointer) {
        lua_rawgeti(L, clua_registryindex(), Int64(metatable))
        let pointer = Unmanaged.passRetained(object)
        if clua_push_object(L, pointer.toOpaque()) { pointer.release() }
    }
}
