import Testing

@testable import Lua

@Suite struct ErrorTests {
    @Test(arguments: [
        "t.fail()", "t.later_fail()", "local ok, e = pcall(t.fail) error(e)",
        "coroutine.wrap(function() t.fail() end)()",
        "local ok, e = coroutine.resume(coroutine.create(function() t.later_fail() end)) error(e, 0)",
        "t.spawn(function() t.fail() end):await()", "t.all { function() t.later_fail() end }",
        "t.spawn(function() t.fail() end)",
        "t.rethrow(function() t.fail() end)", "xpcall(t.fail, function(e) error(e) end) t.fail()",
    ])
    func `errors keep their structure on every way to the host`(source: String) async throws {
        let bench = try await Bench()
        var error = try await bench.failure(of: "\n" + source, annotations: ["run": "r-7"])
        var expected = Bench.refusal
        expected.location = SourceLocation(chunk: "a.lua", line: 2)
        expected.annotations = ["run": "r-7"]
        error.traceback = []
        #expect(error == expected)
    }

    @Test func `a script sees the fields of an error`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local ok, e = pcall(function() t.fail() end)
            return e.code, e.message, e.hint, e.status, e.retryable, e.where, e.tracking_id, e.details.reason, e.kind,
                e.run, tostring(e), getmetatable(e), t.is_error(e), t.is_error({})
            """, annotations: ["run": "r-9"])
        #expect(
            results == [
                .string("hub.refused"), .string("the hub said no"), .string("ask nicely"), .integer(403),
                .boolean(true),
                .string("a.lua:1"), .string("abc-1"), .string("quota"), .string("failure"), .string("r-9"),
                .string("a.lua:1: the hub said no (hub.refused)"), .boolean(false), .boolean(true), .boolean(false),
            ])
    }

    @Test(
        arguments: [
            ("error('text')", "script.error", "text", 2),
            ("error('text', 0)", "script.error", "text", 2),
            ("local x = nil; x.y = 1", "script.error", "attempt to index a nil value (local 'x')", 2),
            ("error({code = 'own.code', message = 'm'})", "own.code", "m", 2),
            ("error()", "script.error", "the script raised nil", nil),
            ("error(42)", "script.error", "42", 2),
            ("t.foreign()", "host.error", "not one of ours", 2),
            ("t.checked('x')", "t.bad", "a number, please", 2),
            ("local ok, e = t.traced(function()\nerror('inner', 0) end)\nerror(e, 0)", "script.error", "inner", 3),
            (
                "t.rethrow(function()\nlocal x = 1 + {} end)", "script.error",
                "attempt to perform arithmetic on a table value", 3
            ),
            ("local function f() return 1 + f() end f()", "budget.memory", nil, nil),
            ("local function g() return (string.gsub('a', 'a', g)) end g()", "script.error", nil, nil),
            ("local function r() local co = coroutine.wrap(r); return co() end r()", "script.error", nil, nil),
            (
                "local s = setmetatable({}, {__index = function(s, k) return s[k .. 'x'] end}) return s.a",
                "script.error", nil, nil
            ),
            ("return string.rep('a', 300):match(string.rep('(a', 40))", "script.error", nil, 2),
            ("xpcall(function() error('a') end, function() error('b') end) error('after')", "script.error", "after", 2),
            (
                "local c <close> = setmetatable({}, {__close = function() error('in close') end})", "script.error",
                "in close", 2
            ),
            (
                "local c <close> = setmetatable({}, {__close = function() t.fail() end}) error('first')", "hub.refused",
                nil, 2
            ),
            (
                "error(setmetatable({}, {__tostring = function() error('x') end}))", "script.error",
                "the script raised a table", 2
            ),
            ("coroutine.yield(1)", "script.error", "attempt to yield from outside a coroutine", 2),
            ("return t.spawn(1)", "script.bad_argument", nil, 2),
        ] as [(String, String, String?, Int?)])
    func `every sort of error reaches the host`(source: String, code: String, message: String?, line: Int?) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "\n" + source)
        #expect(error.code == code)
        if let message { #expect(error.message == message) }
        if let line { #expect(error.location == SourceLocation(chunk: "a.lua", line: line)) }
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    @Test func `a syntax error has a place, and preambles are skipped`() async throws {
        let bench = try await Bench()
        do {
            try await bench.state.compile(LuaScript(name: "b.lua", source: "\u{FEFF}#!/usr/bin/lua\nreturn +"))
            Issue.record("did not fail")
        } catch let error as LuaError {
            #expect(error.code == "script.syntax")
            #expect(error.kind == .syntax)
            #expect(error.location == SourceLocation(chunk: "b.lua", line: 2))
        }
        try await bench.state.compile(LuaScript(name: "b.lua", source: "#!/usr/bin/lua\nreturn 1"))
        try await bench.state.compile(LuaScript(name: "b.lua", source: ""))
    }

    @Test func `tracebacks pass over preludes`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "local function f()\nt.rethrow(function()\nt.fail() end) end\nf()")
        #expect(error.traceback.map(\.line) == [3, 2, 4])
        #expect(error.traceback.allSatisfy { $0.chunk == "a.lua" })
    }
}
