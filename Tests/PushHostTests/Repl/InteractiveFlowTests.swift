import Bindings
import Lua
import Support
import Testing

@testable import PushHost

@Suite struct InteractiveFlowTests {
    @Test(
        arguments: [
            ("1 + 1", "2"), ("1, nil, 'x'", "1\tnil\t\"x\""), ("nil", "nil"), ("(function() end)()", nil), ("x = 1", nil),
            ("return 7", "7"),
            ("10 / 4, 1e300, -0.0", "2.5\t1e+300\t-0.0"), ("'a\\nb\\t\"\\0\\27'", "\"a\\nb\\9\\\"\\0\\27\""),
            ("{}", "{}"), ("{ 1, 'a', { x = 1 } }", "{ 1, \"a\", { x = 1 } }"),
            (
                "{ [1.5] = 1, [true] = 2, ['end'] = 3, ['a b'] = 4, z = 5, [3] = 6 }",
                "{ [1.5] = 1, [3] = 6, [\"a b\"] = 4, [\"end\"] = 3, z = 5, [true] = 2 }"
            ),
            ("(function() local t = {} t.t = t return t end)()", "{ t = { itself } }"),
            ("{ {}, {} }, { print }", "{ {}, {} }\t{ function }"),
            ("setmetatable({ 1 }, { __tostring = function() return 'mine' end })", "mine"),
            ("setmetatable({ 1 }, { __tostring = error })", "<table>"), ("setmetatable({ 1 }, { __pairs = error })", "{…}"),
            ("setmetatable({ 1 }, { __name = 'mine' })", "mine { 1 }"), ("push.device { name = 'p' }", "device p"),
            ("push.everyone", "push.everyone"), ("push.secret 'api_key'", "***"),
            ("push.target", "push.target { name = \"embedded\", simulated = true }"),
            ("push.device({ name = 'p' }):storage()", "storage {}"),
            ("select(2, pcall(push.send, {}))", "repl:1: push.send needs \"to\": there is no default audience (send.no_audience)"),
            ("coroutine.create(print)", "thread: 0x00000001"), ("'日本', '\\xff'", "\"日本\"\t\"\u{fffd}\""),
        ] as [(String, String?)])
    func `an expression prints its value, and a statement prints nothing`(line: String, value: String?) async throws {
        let prompt = try await Prompt()
        #expect(await prompt.type(line) == value)
        #expect(prompt.told == [])
    }

    @Test func `a large value is truncated, and a wide one is split into lines`() async throws {
        let prompt = try await Prompt()
        let list = try #require(await prompt.type("(function() local t = {} for i = 1, 1e5 do t[i] = i end return t end)()"))
        #expect(list.hasSuffix("100,\n  … 99900 more,\n}"))
        let text = try #require(await prompt.type("('é'):rep(1e5)"))
        #expect(text.hasSuffix("é\"… (200000 bytes)"))
        #expect(text.utf8.count < 2100)
        // A small value with an exponential number of paths.
        let tree = try #require(await prompt.type("(function() local t = {} for i = 1, 60 do t = { t, t } end return t end)()"))
        #expect(tree.utf8.count < 10_000)
        #expect(
            await prompt.type("{ name = ('x'):rep(60), list = { 1, 2 }, text = ('y'):rep(60) }") == """
                {
                  list = { 1, 2 },
                  name = "\(String(repeating: "x", count: 60))",
                  text = "\(String(repeating: "y", count: 60))",
                }
                """)
    }

    @Test func `definitions of a line are available in the next`() async throws {
        let prompt = try await Prompt()
        for line in [
            "a = 1", "local b, c = a + 1", "local function f(n) if n == 0 then return 'f' end return f(n - 1) end", "local d <const> = 4",
            "function g() a = a + 1 return a end", "local push2 = require 'push'",
        ] { await prompt.type(line) }
        #expect(await prompt.type("a, b, c, f(3), d, push2 == push") == "1\t2\tnil\t\"f\"\t4\ttrue")
        #expect(await prompt.type("g() + a, _G.b, _REPL") == "4\t2\tnil")
        #expect(prompt.told == [])
    }

    @Test func `the session survives changes to its standard library`() async throws {
        let prompt = try await Prompt()
        await prompt.type("load, require, pcall, tostring, type, pairs, select, print, error = nil")
        await prompt.type("for name in pairs2 or next, string do string[name] = nil end for name in next, table do table[name] = nil end")
        await prompt.type("string, table, _ENV, push = nil")
        #expect(await prompt.type("{ 1, a = 'b' }") == "{ 1, a = \"b\" }")
        #expect(await LineCompleter(flow: prompt.flow, registry: .standard).completion(of: ["mat"])?.names == ["math"])
    }

    @Test func `an error names the typed line, in functions of earlier lines too`() async throws {
        let prompt = try await Prompt()
        await prompt.type("function f()")
        await prompt.type("  error 'boom'")
        #expect(await prompt.type("end") == nil)
        await prompt.type("local x = 1 + f()")
        await prompt.type("f()")
        await prompt.type("push.check(false)")
        await prompt.type("x = = 1")
        await prompt.type("push.send { to = 'a', alret = 'x' }")
        await prompt.type("push.expect(1).to.equal(2)")
        #expect(prompt.errors.map(\.location?.line) == [2, 2, 6, 7, 8, 9])
        #expect(prompt.errors.allSatisfy { $0.location?.chunk == "repl" })
        #expect(prompt.told == ["script.error", "script.error", "expect.failed", "script.syntax", "args.unknown_key", "expect.failed"])
        #expect(prompt.errors.prefix(2).map { $0.traceback.map(\.line) } == [[2, 4], [2, 5]])
    }

    @Test(
        arguments: [
            "for i = 1, 2 do", "f(", "x = {", "x = [[", "--[[", "if x then", "1 +", "x =", "function f()", "local a,", "repeat", "'a' ..",
            "x = 'a\\",
        ])
    func `an incomplete line asks for more input`(line: String) async throws {
        let prompt = try await Prompt()
        #expect(await prompt.flow.evaluate(line, firstLine: 1, isComplete: false) == .unfinished)
        #expect(prompt.told == [])
        #expect(await prompt.flow.evaluate(line, firstLine: 1, isComplete: true) == .raised)
        #expect(prompt.told == ["script.syntax"])
    }

    @Test(arguments: ["for for", "x = 'abc", "end", "x = 5 5", ")", "goto nowhere", "break", "local 5"])
    func `a syntax error that no further input can fix is reported at once`(line: String) async throws {
        let prompt = try await Prompt()
        await prompt.type(line)
        #expect(prompt.told == ["script.syntax"])
        #expect(await prompt.type("1") == "1")
    }

    @Test func `tasks and handlers continue while a later line waits, and time passes only then`() async throws {
        let prompt = try await Prompt()
        await prompt.type("push.spawn(function() for i = 1, 3 do push.sleep '1h' print('hour', i) end end)")
        await prompt.type("task = push.spawn(function() push.sleep '90m' return 'result' end)")
        #expect(await prompt.type("push.clock.now() - 1767603600") == "0")
        #expect(prompt.log == [])
        await prompt.type("push.sleep '61m'")
        #expect(prompt.log == ["hour\t1"])
        #expect(await prompt.type("task:await(), push.clock.now() - 1767603600") == "\"result\"\t5400")
        await prompt.type("push.sleep '1d'")
        #expect(prompt.log == ["hour\t1", "hour\t2", "hour\t3"])
        #expect(prompt.told == [])
    }

    @Test func `a line ends when its background work can do nothing more without time passing`() async throws {
        let prompt = try await Prompt()
        await prompt.type("push.spawn(function() for i = 1, 20 do push.devices() end print 'done' push.sleep '1s' print 'later' end)")
        #expect(prompt.log == ["done"])
    }

    @Test func `a call that waits for something that cannot happen ends with flow.stalled, and the session continues`() async throws {
        let prompt = try await Prompt()
        await prompt.type("phone = push.device { name = 'p' } other = push.spawn(function() phone:next_push() return 'came' end)")
        await prompt.type("phone:next_push()")
        await prompt.type("other:await()")
        await prompt.type("local guard <close> = setmetatable({}, { __close = function() print 'closed' end }) phone:next_push()")
        #expect(prompt.told == ["flow.stalled", "flow.stalled", "flow.stalled"])
        #expect(prompt.errors.map(\.location?.line) == [2, 3, 4])
        #expect(prompt.log == ["closed"])
        // The task of the first line still waits and can still receive the push.
        await prompt.type("push.account { username = 'a', password = 'x' }")
        await prompt.type("push.login({ username = 'a', password = 'x' }):register { device = phone }")
        await prompt.type("push.send { to = 'username:a', payload = { apns = { aps = { ['content-available'] = 1 } } } }")
        #expect(await prompt.type("other:await()") == "\"came\"")
    }

    @Test func `each line has its own budgets, and exceeding one ends only that line`() async throws {
        let prompt = try await Prompt(limits: LuaLimits(memory: 32 << 20, cpu: .seconds(1)))
        await prompt.type("x = 'kept' task = push.spawn(function() push.sleep '1h' return 'alive' end)")
        await prompt.type("while true do pcall(function() while true do end end) end")
        await prompt.type("local s = 'x' while true do s = s .. s end")
        await prompt.type("while true do print(('x'):rep(100000)) end")
        await prompt.type("push.spawn(function() while true do end end)")
        #expect(prompt.told == ["budget.cpu", "budget.memory", "budget.output", "budget.cpu"])
        #expect(await prompt.type("x, task:await()") == "\"kept\"\t\"alive\"")
        // A new line has output budget again.
        await prompt.type("print 'still'")
        #expect(prompt.log.last == "still")
    }

    @Test func `a cancelled line runs its cleanup, and other lines continue`() async throws {
        let prompt = try await Prompt(limits: LuaLimits(cpu: .seconds(60)))
        await prompt.type("other = push.spawn(function() push.sleep '1h' return 'alive' end)")
        let line = Task {
            await prompt.type(
                "local c <close> = setmetatable({}, { __close = function() print 'closed' end }) print 'on' while true do end")
        }
        try await until { !prompt.log.isEmpty }
        line.cancel()
        _ = await line.value
        #expect(prompt.told.last == "cancelled")
        #expect(prompt.errors.last?.message == "the call was cancelled")
        #expect(prompt.log.last == "closed")
        #expect(await prompt.type("other:await()") == "\"alive\"")
    }

    @Test func `an unhandled task error is reported, and an awaited one is not`() async throws {
        let prompt = try await Prompt()
        await prompt.type("push.spawn(function() push.sleep '1h' error 'late' end)")
        await prompt.type("local t = push.spawn(function() error 'seen' end) pcall(t.await, t)")
        #expect(prompt.told == [])
        await prompt.type("push.sleep '2h'")
        #expect(prompt.errors.map(\.message) == ["late"])
        #expect(prompt.errors.map(\.location?.line) == [1])
    }

    @Test func `expectations, steps and parameters work at a prompt, and specs do not`() async throws {
        let prompt = try await Prompt()
        #expect(await prompt.type("push.check(1 == 2, 'math')") == "false")
        #expect(await prompt.type("push.expect(1).to.equal(1)") == nil)
        await prompt.type("e = push.expect(1)")
        await prompt.type("push.step('s', function() push.expect(1).to.equal(2) end)")
        #expect(prompt.told == ["expect.failed", "expect.failed"])
        #expect(await prompt.type("push.args({ user = { default = 'alice' } }).user") == "\"alice\"")
        #expect(await prompt.type("push.args({ user = { default = 'bob' } }).user") == "\"bob\"")
        await prompt.type("push.test.it('x', function() end)")
        #expect(prompt.errors.last?.code == "test.not_a_spec")
    }

    @Test func `a due schedule without recipients reaches no phone, and an ended session runs no more lines`() async throws {
        let prompt = try await Prompt()
        await prompt.type("phone = push.device { name = 'p' }")
        await prompt.type("push.schedule { to = 'nobody', alert = 'x', after = '1h' }")
        await prompt.type("push.sleep '2h'")
        #expect(await prompt.type("#phone:inbox()") == "0")
        await prompt.flow.end()
        #expect(await prompt.type("1") == nil)
        #expect(prompt.told == ["session.busy"])
    }
}
