import CLua
import Testing

@testable import Lua

/// Two tenants are two states, here on one thread. Neither can see what the other one does.
@Suite struct TenantTests {
    /// Everything a script can reach in its state, as text: names, types, and the results of a few functions.
    static let fingerprint = """
        local seen, out = {}, {}
        local function walk(value, path, depth)
            if depth > 6 then return end
            if type(value) == 'table' and not seen[value] then
                seen[value] = true
                for k, v in pairs(value) do
                    out[#out + 1] = path .. '.' .. tostring(k) .. ':' .. type(v)
                    walk(v, path .. '.' .. tostring(k), depth + 1)
                end
            end
        end
        local g = {}
        for k, v in pairs(_G) do g[k] = v end
        walk(g, '', 0)
        local r = require 't'
        walk(r, 't', 0)
        out[#out + 1] = ('x'):upper() .. ('%d'):format(3) .. tostring(getmetatable('')) .. tostring(r.thing('a')) .. tostring(r.thing('a').name)
        out[#out + 1] = tostring(select(2, pcall(r.fail)))
        return table.concat(out, '\\n')
        """

    @Test func `damage by one tenant does not affect the other`() async throws {
        let thread = LuaThread(name: "tenants")
        let (bad, good, fresh) = (try await Bench(thread: thread), try await Bench(thread: thread), try await Bench(thread: thread))
        let expected = try await fresh.run(Self.fingerprint)
        try await bad.run(
            """
            local rawset, g = rawset, _G
            for name, library in pairs { string = string, table = table, math = math, utf8 = utf8, coroutine = coroutine, t = t } do
                for k in pairs(library) do rawset(library, k, function() return 'poisoned' end) end
                library.planted = 'planted'
            end
            for k in pairs(g) do rawset(g, k, 'poisoned') end
            """)
        #expect(try await bad.run("return ('x'):upper()") == [.string("X")])
        #expect(try await good.run(Self.fingerprint) == expected)
    }

    @Test func `functions, objects, tasks and errors do not cross`() async throws {
        let thread = LuaThread(name: "tenants")
        let (one, two) = (try await Bench(thread: thread), try await Bench(thread: thread))
        guard let function = try await one.run("local secret = 'secret' return function() return secret end").first else { return }
        for source in ["return (...)()", "return (...).f()"] {
            for argument in [function, .table(LuaTable(fields: ["f": function]))] {
                await #expect(throws: LuaError.self) { try await two.run(source, arguments: [argument]) }
            }
        }
        let session = try await two.state.openSession(id: two.nextID()) { _ in }
        guard case .function(let foreign) = function else { return }
        await #expect(throws: LuaError.self) { try await session.call(foreign) }
        #expect(try await one.failure(of: "return t.spawn(function() end)").code == "value.unsupported")
        #expect(try await one.failure(of: "t.echo(t.spawn(function() end))").code == "value.unsupported")
        // An object of the host is another userdata in the other state, with that state's metatable.
        let thing = try await one.run("local x = t.thing('a') t.kept = x return x")
        #expect(
            try await two.run("local x = ... return x.name, rawequal(x, t.kept), x:shout()", arguments: thing) == [
                .string("a"), .boolean(false), .string("a!"),
            ])
        // An error leaves the state as a value; the table of the script does not.
        let error = try await one.failure(of: "t.kept = {code = 'own', inner = {secret = 1}} error(t.kept)")
        guard case .table(let table) = error.value else { throw Folder.Failure() }
        try await two.run("local e = ... e.inner.secret = 2", arguments: [.table(table)])
        #expect(try await one.run("return t.kept.inner.secret") == [.integer(1)])
    }

    @Test func `the registries share nothing mutable`() async throws {
        let thread = LuaThread(name: "tenants")
        let (one, two) = (try await Bench(thread: thread), try await Bench(thread: thread))
        func pointers(_ bench: Bench) async -> Set<UInt> {
            await bench.state.inspect { machine in
                var found: Set<UInt> = []
                let lua = machine.lua
                func walk(depth: Int) {
                    guard let pointer = lua_topointer(lua, -1), lua_type(lua, -1) != LUA_TSTRING, lua_checkstack(lua, 8) != 0 else {
                        return
                    }
                    // C functions without upvalues are code, and equal in all states.
                    if lua_iscfunction(lua, -1) != 0 {
                        if lua_getupvalue(lua, -1, 1) == nil { return }
                        clua_pop(lua, 1)
                    }
                    if lua_type(lua, -1) == LUA_TLIGHTUSERDATA { return }
                    guard found.insert(UInt(bitPattern: pointer)).inserted, depth < 12 else { return }
                    if lua_getmetatable(lua, -1) != 0 {
                        walk(depth: depth + 1)
                        clua_pop(lua, 1)
                    }
                    var upvalue: Int32 = 1
                    while lua_type(lua, -1) == LUA_TFUNCTION, lua_getupvalue(lua, -1, upvalue) != nil {
                        walk(depth: depth + 1)
                        clua_pop(lua, 1)
                        upvalue += 1
                    }
                    guard lua_type(lua, -1) == LUA_TTABLE else { return }
                    lua_pushnil(lua)
                    while lua_next(lua, -2) != 0 {
                        walk(depth: depth + 1)
                        clua_pop(lua, 1)
                        walk(depth: depth + 1)
                    }
                }
                lua_pushvalue(lua, clua_registryindex())
                walk(depth: 0)
                lua_settop(lua, 0)
                return found
            }
        }
        let (first, second) = (await pointers(one), await pointers(two))
        #expect(first.count > 50)
        #expect(first.isDisjoint(with: second))
    }
}
