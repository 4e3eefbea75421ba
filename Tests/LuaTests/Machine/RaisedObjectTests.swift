import Testing

@testable import Lua

/// Errors that are tables of the script with a `__tostring` metamethod.
@Suite struct RaisedObjectTests {
    private static let opening =
        "local E = setmetatable({}, {__tostring = function(e) return 'no room' end}) "
        + "local function fail(e) error(e or E) end\n"

    @Test(arguments: [
        "fail()", "t.later() fail()", "t.rethrow(fail)", "t.spawn(fail)", "t.spawn(fail):await()", "t.all { fail }",
        "coroutine.wrap(fail)()", "local ok, e = pcall(fail) error(e, 0)", "local ok, e = pcall(fail) t.later() error(e)",
    ])
    func `an uncaught object is reported by its text and line`(source: String) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: Self.opening + source)
        #expect(error.code == "script.error")
        #expect(error.message == "no room")
        #expect(error.location?.chunk == "a.lua")
        let isBalanced = await bench.state.inspect { $0.framesEntered == $0.framesLeft }
        #expect(isBalanced)
    }

    @Test(
        arguments: [
            ("error(setmetatable({code = 'own', message = 'm'}, {__tostring = function(e) return e.code .. '!' end}))", "own", "own!"),
            ("error(t.thing('a'))", "script.error", "the script raised thing a"),
            ("error(setmetatable({}, {__tostring = function() return {} end}))", "script.error", "the script raised a table"),
            ("error(setmetatable({}, {__tostring = function() t.later() end}))", "script.error", "the script raised a table"),
            (
                "error(setmetatable({x = 1}, {__tostring = function() error('x') end}))", "script.error",
                "the script raised a table: {x = 1}"
            ),
            ("error(setmetatable({}, {__tostring = function() return ('ä'):rep(1e5) end}))", "script.error", nil),
            ("error(setmetatable({}, {__index = {}}))", "script.error", "the script raised a table"),
            ("error(setmetatable({}, {__name = 'Trouble'}))", "script.error", "the script raised a table"),
        ] as [(String, String, String?)])
    func `an unavailable text is replaced by a description`(source: String, code: String, message: String?) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: source)
        #expect(error.code == code)
        if let message { #expect(error.message == message) } else { #expect(error.message.utf8.count < 70_000) }
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    @Test(arguments: ["while true do end", "while true do pcall(function() while true do end end) end", "return ('x'):rep(1e9)"])
    func `computing the text is within the budget of the run`(body: String) async throws {
        let bench = try await Bench(limits: LuaLimits(memory: 8 << 20))
        let error = try await bench.failure(
            of: "error(setmetatable({}, {__tostring = function() \(body) end}))",
            limits: LuaLimits(cpu: .seconds(600), instructions: 1_000_000))
        #expect(error.code == (body.contains("rep") ? "script.error" : "budget.instructions"))
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
        let isBalanced = await bench.state.inspect { $0.framesEntered == $0.framesLeft && $0.runs.isEmpty }
        #expect(isBalanced)
    }

    @Test func `calls of a program report the text too`() async throws {
        let bench = try await Bench()
        let program = try await bench.state.load(
            LuaScript(name: "a.lua", source: Self.opening + "return fail"), id: LuaRunID(rawValue: 901))
        guard case .function(let fail)? = program.results.first else { throw LuaError(kind: .failure, code: "", message: "") }
        let error = await #expect(throws: LuaError.self) { try await program.call(fail, id: LuaRunID(rawValue: 902)) }
        #expect(error?.message == "no room")
    }
}
