import Testing

@testable import Lua

/// Globals of a run are copied when they are first read. Scripts must not be able to notice.
@Suite struct GlobalsTests {
    @Test(arguments: [
        // A cleared global stays cleared: unread, after reading, after assigning, and when a chunk of `load` clears it.
        "tostring = nil return tostring == nil",
        "local f = tostring tostring = nil return tostring == nil and f ~= nil",
        "tostring = 1 tostring = nil return tostring == nil",
        "load('tostring = nil')() return tostring == nil and _G.tostring == nil",
        "local f = tostring tostring = nil return rawget(_G, 'tostring') == nil",
        "local f = tostring tostring = nil local _ = _G.print return tostring == nil",
        "tostring = nil tostring = 5 return tostring == 5 and _G.tostring == 5",
        // The table behaves like any other, through `_G` and `_ENV`.
        "return rawget(_G, 'print') == print and rawget(_ENV, 'select') == select",
        "return getmetatable(_ENV) == nil and getmetatable(_G) == nil",
        "local e = _ENV local n = 0 for k in pairs(e) do n = n + 1 end return n > 30 and e._G == e",
        "local names = {} for k, v in next, _G do names[k] = v end return names.pairs == pairs and names._G == _G",
        "for k in pairs(_G) do if type(k) ~= 'string' then return k end end return true",
        "return load('local e = _ENV return rawget(e, \"type\")')() == type",
        "return load('return rawget(_G, \"type\")')() == type and getmetatable(_G) == nil",
        "x = 1 return rawget(_G, 'x') == 1 and rawlen(_G) == 0 and #_G == 0",
        // A script may set a metatable, and clear `_G`.
        "setmetatable(_G, {__index = function(_, k) return k .. '?' end}) return nothing == 'nothing?' and type(print) == 'function'",
        "_G = 5 return _G == 5 and type(print) == 'function'",
        "_G = nil return _G == nil and type(print) == 'function'",
        "local g = _G _G = nil return rawget(g, '_G') == nil and g.print == print",
        "return nothing == nil and rawget(_G, 'nothing') == nil",
        // More globals than are numbered.
        "for i = 1, 200 do load(('g%d = %d'):format(i, i))() end return g200 == 200 and _G.g1 == 1 and _G.print == print",
    ])
    func `globals that are copied on first read look like any others`(script: String) async throws {
        let bench = try await Bench()
        #expect(try await bench.run(script) == [.boolean(true)])
        // The next run of the state has the original globals.
        let types = try await bench.run("return type(tostring), type(print), _G.x, #_G")
        #expect(types == [.string("function"), .string("function"), .nil, .integer(0)])
    }

    @Test func `a host may define more globals than are numbered`() async throws {
        let bench = try await Bench()
        let many = (1...100).map { number in LuaFunction.sync("many\(number)") { (_: LuaCall) -> [LuaValue] in [.integer(Int64(number))] } }
        try await bench.state.define(LuaModule(name: "many", globals: many))
        let calls = (1...100).map { "sum = sum + many\($0)()" }.joined(separator: " ")
        #expect(try await bench.run("sum = 0 many7 = many7 \(calls) return sum") == [.integer(5_050)])
        let cleared = (1...100).map { "f = many\($0) many\($0) = nil if many\($0) ~= nil then return \($0) end" }
            .joined(separator: " ")
        #expect(try await bench.run("\(cleared) return 0") == [.integer(0)])
    }

    @Test func `a function that outlives its run keeps the globals of that run`() async throws {
        let bench = try await Bench()
        let script = "x = 1 return function() y = x return x, type(print), print == _G.print end"
        guard case .function(let function)? = try await bench.run(script).first else {
            Issue.record("no function")
            return
        }
        let results = try await bench.state.run(
            LuaScript(name: "b.lua", source: "local f = ... local a, b, c = f() return a, b, c, x, y"), id: bench.nextID(),
            arguments: [.function(function)])
        #expect(results == [.integer(1), .string("function"), .boolean(true), .nil, .nil])
    }
}
