import CLua
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
    func `errors keep their structure on every path to the host`(source: String) async throws {
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
            ("error()", "script.error", "the script raised nil", 2),
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
    func `every kind of error reaches the host`(source: String, code: String, message: String?, line: Int?) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "\n" + source)
        #expect(error.code == code)
        if let message { #expect(error.message == message) }
        if let line { #expect(error.location == SourceLocation(chunk: "a.lua", line: line)) }
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    @Test(
        arguments: [
            ("{code = 3}", "the script raised a table: {code = 3}", "script.error"),
            ("{code = 'own', reason = 'x'}", "the script raised a table: {code = \"own\", reason = \"x\"}", "own"),
            ("{message = 'm', code = {}}", "m", "script.error"),
            (
                "{10, {}, [2.5] = true, f = print}", "the script raised a table: {f = a function, [1] = 10, [2] = {…}, [2.5] = true}",
                "script.error"
            ),
            (
                "{a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9}",
                "the script raised a table: {a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, …}", "script.error"
            ),
            (
                "(function() local x = {} for i = 1, 2000 do x[i] = i end return x end)()",
                "the script raised a table of more than 1000 fields", "script.error"
            ),
            ("{t = ('x'):rep(1 << 20)}", "the script raised a table: {t = \"\(String(repeating: "x", count: 60))…\"}", "script.error"),
        ] as [(String, String, String)])
    func `a raised table is shown in the message`(table: String, message: String, code: String) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "\nerror(\(table))")
        #expect(error.message == message)
        #expect(error.code == code)
        #expect(error.location == SourceLocation(chunk: "a.lua", line: 2))
    }

    /// Scripts with endless recursion, or with errors during error handling.
    static let entangled: [(source: String, code: String, line: Int?)] = [
        ("local function f(a, b, c, d) return 1 + f(a, b, c, d) end\nf()", "script.error", 2),
        ("local function f(a, b, c, d) f(a, b, c, d) end\nlocal ok, e = pcall(f) error(e, 0)", "script.error", 2),
        ("local function g() return (string.gsub('a', 'a', g)) end\ng()", "script.error", 2),
        ("local function r() return coroutine.wrap(r)() end\nr()", "script.error", 2),
        ("local s = setmetatable({}, {__index = function(s, k) return s[k] end})\nreturn s.a", "script.error", 2),
        ("local s s = setmetatable({}, {__tostring = function() return tostring(s) end})\nreturn tostring(s)", "script.error", 2),
        ("local s = {} for i = 1, 3000 do s = setmetatable({}, {__index = s}) end\nreturn s.a", "script.error", 3),
        ("local function p() return select(2, pcall(p)) end\nerror(p(), 0)", "script.error", nil),
        ("local function x(e) local ok, e = xpcall(error, x, e) return e end\nerror(x('y'), 0)", "script.error", nil),
        ("\nt.twice(function() return error('inner') end)", "script.error", 3),
        ("\nlocal f = load('return ' .. ('('):rep(300) .. '1' .. (')'):rep(300))\nassert(f)", "script.error", 4),
        ("\nassert(load('return ' .. ('('):rep(300) .. '1' .. (')'):rep(300)))", "script.error", 3),
        ("\nxpcall(error, function() error(nil) end)\nerror(nil)", "script.error", 4),
        ("\nlocal ok, e = xpcall(error, function(m) error(m) end, 'x')\nerror(e, 0)", "script.error", 4),
        ("local n <close> = setmetatable({}, {__close = function()\nerror('last') end})\nerror('first')", "script.error", 3),
        ("local n <close> = setmetatable({}, {__close = function()\nt.later_fail() end})\nerror('first')", "hub.refused", 3),
        ("local function d(n) if n == 0 then\nerror('deep') end d(n - 1) return n end d(500)", "script.error", 3),
        ("\nerror(0/0)", "script.error", 3), ("\nerror(false)", "script.error", 3),
        ("\nerror(coroutine.create(print))", "script.error", 3), ("\nerror(t.thing('x'))", "script.error", 3),
    ]

    @Test(arguments: entangled.indices)
    func `errors during errors have a position and leave the state usable`(index: Int) async throws {
        let (source, code, line) = Self.entangled[index]
        let bench = try await Bench()
        let error = try await bench.failure(
            of: "\n" + source.replacing("t.twice", with: "(function(f) local ok, e = pcall(f) error(e, 0) end)"))
        #expect(error.code == code, "\(error)")
        #expect(error.location?.chunk == "a.lua", "\(error)")
        if let line { #expect(error.location?.line == line, "\(error)") }
        #expect(error.traceback.count <= 20)
        #expect(error.message.utf8.count < 1_000)
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
        let isBalanced = await bench.state.inspect { $0.framesEntered == $0.framesLeft && lua_gettop($0.lua) == 0 && $0.runs.isEmpty }
        #expect(isBalanced)
    }

    @Test func `failing allocations in a message handler leave the state usable`() async throws {
        let bench = try await Bench()
        var failed = 0
        for point in 1...400 {
            await bench.state.inspect { $0.armFault(after: point) }
            do {
                try await bench.run(
                    """
                    local ok, e = xpcall(t.later_fail, function(e)
                        local kept = {} for i = 1, 60 do kept[i] = {tostring(e) .. i} end error {code = "handler", n = #kept}
                    end)
                    error(e, 0)
                    """)
                Issue.record("did not fail")
            } catch let error as LuaError {
                if error.code == "budget.memory" { failed += 1 }
            }
            await bench.state.inspect { $0.armFault(after: 0) }
        }
        #expect(failed > 50)
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    @Test(.timeLimit(.minutes(10)))
    func `objects of the host are released when scripts drop them and when the state ends`() async throws {
        final class Payload: Sendable {
            let gates: Gates
            let name: String
            init(_ gates: Gates, _ name: String) { (self.gates, self.name) = (gates, name) }
            deinit { gates.open(name) }
        }
        let gates = Gates()
        func object(_ name: String) -> LuaValue { .object(LuaObject(type: "thing", payload: Payload(gates, name))) }
        do {
            let bench = try await Bench()
            _ = try await bench.run("kept = ...", arguments: [object("forgotten")])
            await bench.state.inspect { $0.collect() }
            try await gates.wait("forgotten")
            let session = try await bench.state.openSession(id: bench.nextID()) { _ in }
            guard case .function(let keep)? = try await bench.run("return function(x) kept = x end").first else { return }
            _ = try await session.call(keep, [object("kept")])
            await bench.state.inspect { $0.collect() }
            #expect(!gates.isOpen("kept"))
        }
        try await gates.wait("kept")
    }

    @Test func `a syntax error has a position, and preambles are skipped`() async throws {
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

    @Test func `tracebacks omit preludes`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "local function f()\nt.rethrow(function()\nt.fail() end) end\nf()")
        #expect(error.traceback.map(\.line) == [3, 2, 4])
        #expect(error.traceback.allSatisfy { $0.chunk == "a.lua" })
    }
}
