import Testing

@testable import Lua

/// States with the whole standard library.
@Suite struct StandardTests {
    @Test(arguments: ["t.later", "t.at_once"], AwaitTests.places)
    func `scripts can wait in every position`(function: String, place: String) async throws {
        let bench = try await Bench(library: .standard)
        #expect(try await bench.run("local w = \(function)\n\(place)") == [.integer(5)])
    }

    @Test(
        arguments: [
            ("return collectgarbage('isrunning')", [.boolean(true)]),
            ("return io.open('/dev/null'):close()", [.boolean(true)]),
            (
                "return type(os.getenv), type(debug.traceback()), type(package.path)",
                [.string("function"), .string("string"), .string("string")]
            ),
            ("return load(string.dump(function() return 7 end))()", [.integer(7)]),
            ("local n = 0 setmetatable({}, {__gc = function() n = n + 1 end}) collectgarbage() return n", [.integer(1)]),
            ("x = 5 return load('return x')(), _G.x, package.loaded._G == _G", [.integer(5), .integer(5), .boolean(true)]),
            ("return require('t') == t, package.loaded.t == t", [.boolean(true), .boolean(true)]),
            ("return coroutine.isyieldable(), (select(2, coroutine.running()))", [.boolean(false), .boolean(true)]),
            ("return select(2, pcall(coroutine.yield))", [.string("attempt to yield from outside a coroutine")]),
            ("return select(2, pcall(coroutine.wrap(function() error('x', 0) end)))", [.string("x")]),
            (
                "local f = coroutine.wrap(function() error('x', 0) end)\nlocal ok, e = pcall(function() f() end) return e",
                [.string("a.lua:2: x")]
            ),
            ("return #debug.traceback(coroutine.create(print)) > 0, debug.getinfo(1, 'l').currentline", [.boolean(true), .integer(1)]),
            (
                "return tostring(print):match('^builtin') or tostring(print):match('^function'), ('%p'):format(print) ~= nil",
                [.string("function"), .boolean(true)]
            ),
        ] as [(String, [LuaValue])])
    func `the library is the stock library`(source: String, results: [LuaValue]) async throws {
        let bench = try await Bench(library: .standard)
        #expect(try await bench.run(source) == results)
    }

    @Test(arguments: [
        ("while true do end", "budget.cpu"), ("while true do pcall(function() while true do end end) end", "budget.cpu"),
        ("local co = coroutine.wrap(function() while true do end end) co()", "budget.cpu"),
        ("while true do coroutine.wrap(function() for i = 1, 100 do end end)() end", "budget.cpu"),
        ("debug.sethook(function() end, 'l') while true do end", "budget.cpu"),
        ("local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", "budget.memory"),
        ("t.fail()", "hub.refused"), ("error {code = 'own'}", "own"), ("t.spawn(function() t.later_fail() end):await()", "hub.refused"),
    ])
    func `budgets and errors are the same as in a sandbox`(source: String, code: String) async throws {
        let bench = try await Bench(
            limits: LuaLimits(memory: 8 << 20, cpu: code == "budget.cpu" ? .milliseconds(200) : .seconds(60)), library: .standard)
        let error = try await bench.failure(of: "\n" + source)
        #expect(error.code == code)
        #expect(error.location == SourceLocation(chunk: "a.lua", line: 2))
        #expect(try await bench.run("collectgarbage() return 1 + 1") == [.integer(2)])
    }

    @Test func `a hook of a script stays set`() async throws {
        let bench = try await Bench(library: .standard)
        let results = try await bench.run(
            "local n = 0 debug.sethook(function() n = n + 1 end, '', 1000) for i = 1, 2000000 do end local hook = debug.gethook() debug.sethook() return n > 1000, hook ~= nil"
        )
        #expect(results == [.boolean(true), .boolean(true)])
    }

    @Test func `globals are shared by the runs`() async throws {
        let bench = try await Bench(library: .standard)
        try await bench.run("shared = 5")
        #expect(try await bench.run("return shared") == [.integer(5)])
    }
}
