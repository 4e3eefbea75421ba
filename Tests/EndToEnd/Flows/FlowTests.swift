import Bindings
import HostSupport
import Lua
import PushLab
import PushModel
import Testing

@Suite struct FlowTests {
    @Test func `parameters come from the declaration and the command line`() async throws {
        let run = try await rehearse(
            """
            local push = require "push"
            local args = push.args { user = { default = "alice" }, devices = { type = "integer", default = 2 } }
            return args
            """, opening: "", options: [("user", "bob")])
        #expect(run.result == #"{"devices":2,"user":"bob"}"#)
    }

    @Test func `undeclared options are rejected before anything runs`() async throws {
        let run = try await rehearse(
            "require('push').account { username = 'a', password = 'b' }", opening: "", options: [("user", "bob")])
        #expect(run.error?.code == "usage.no_options")
        #expect(!run.everything.contains("account a created"))
        let silent = try await rehearse("return 1", opening: "", options: [("user", "bob")])
        #expect(silent.error?.code == "usage.no_options")
    }

    @Test func `parameters can be declared only once, and before other calls`() async throws {
        let twice = try await rehearse("local p = require 'push'\np.args {}\np.args {}", opening: "")
        #expect(twice.error?.code == "args.not_first")
        #expect(twice.error?.location?.line == 3)
        let late = try await rehearse("local p = require 'push'\np.sleep '1s'\np.args {}", opening: "")
        #expect(late.error?.code == "args.not_first")
        let inside = try await rehearse("local p = require 'push'\np.step('x', function() p.args {} end)", opening: "")
        #expect(inside.error?.code == "args.not_first")
    }

    @Test func `a step is reported on its own line with what happened in it`() async throws {
        let run = try await rehearse(
            """
            local s = login "alice"
            local value, more = push.step("register and send", function()
              phone(s, "a-1") phone(s, "a-2")
              push.step("send", function() push.send { to = "username:alice", alert = "Hello" } end)
              push.expect(1).to.equal(1)
              push.sleep "3s"
              return "both", 2
            end)
            return { value, more }
            """)
        #expect(run.result == #"["both",2]"#)
        let steps = run.steps
        #expect(steps.map(\.name) == ["send", "register and send"])
        #expect(steps.map(\.depth) == [1, 0])
        #expect(steps.map(\.status) == [.passed, .passed])
        #expect(steps[0].sends.map(\.counts.sent) == [2])
        #expect(steps[1].registrations == 2)
        #expect(steps[1].expectations == 1)
        #expect(steps[1].ended - steps[1].began == .seconds(3))
        #expect(run.report.steps == 2)
    }

    @Test func `an error in a step fails the step and ends the run`() async throws {
        let run = try await rehearse(
            """
            push.step("outer", function()
              push.step("inner", function() push.fail "no way" end)
            end)
            """)
        #expect(run.steps.map(\.status) == [.failed, .failed])
        #expect(run.error?.code == "flow.failed")
        #expect(run.error?.message == "no way")
        #expect(run.error?.location?.line == 2)
    }

    @Test func `push.rehearse runs its step when phones are simulated`() async throws {
        let run = try await rehearse(
            #"return { push.rehearse("look", function() return 42 end), push.target.name, push.target.simulated }"#)
        #expect(run.result == #"[42,"embedded",true]"#)
        #expect(run.steps.map(\.status) == [.passed])
    }

    @Test(
        arguments: [
            ("equal(2)", "1", "expected 2, got 1"), ("equal { a = 1 }", "{ a = 2 }", "expected { a = 1 }, got { a = 2 }"),
            ("exist()", "nil", "expected a value, got nil"), ("be_nil()", "1", "expected nil, got 1"),
            ("be_true()", "1", "expected true, got 1"), ("be_false()", "nil", "expected false, got nil"),
            ("contain 'x'", "'abc'", #"expected text with "x", got "abc""#),
            ("contain(3)", "{ 1, 2 }", "expected an element 3, got { 1, 2 }"),
            ("match '^b'", "'abc'", #"expected text that matches "^b", got "abc""#),
            ("be_above(1)", "1", "expected more than 1, got 1"), ("be_below(1)", "1", "expected less than 1, got 1"),
            ("be_at_least(2)", "1", "expected at least 2, got 1"), ("be_at_most(0)", "1", "expected at most 0, got 1"),
            ("have_length(3)", "'ab'", #"expected a length of 3, has 2, got "ab""#),
            ("be_a 'string'", "1", "expected a string, got 1"),
        ])
    func `a failed expectation fails the run at its line and shows both values`(
        matcher: String, value: String, message: String
    ) async throws {
        let run = try await rehearse("\npush.expect(\(value)).to.\(matcher)")
        #expect(run.error?.code == "expect.failed")
        #expect(run.error?.message == message)
        #expect(run.error?.location?.line == 2)
        #expect(run.report.expectations.failures.map(\.message) == [message])
        let turned = try await rehearse("push.expect(\(value)).to_not.\(matcher)")
        #expect(turned.hasPassed)
        #expect(turned.report.expectations.count == 1)
    }

    @Test func `tables are compared deeply by value, even with cycles`() async throws {
        let run = try await rehearse(
            """
            local a, b = { x = { 1, { y = 2 } } }, { x = { 1, { y = 2 } } }
            a.self, b.self = a, b
            push.expect(a).to.equal(b)
            push.expect({ 1, 2 }).to_not.equal { 1, 2, 3 }
            """)
        #expect(run.hasPassed)
    }

    @Test func `a failed check is counted, and the run continues and fails at its end`() async throws {
        let run = try await rehearse(
            """
            push.check(true, "fine")
            local held = push.check(false, "two phones were reached")
            push.check(nil)
            return held
            """)
        #expect(run.hasFailed)
        #expect(run.result == "false")
        #expect(run.report.expectations.count == 3)
        #expect(run.report.expectations.failures.map(\.message) == ["two phones were reached does not hold", "check does not hold"])
        #expect(run.report.expectations.failures.map(\.location?.line) == [2, 3])
    }

    @Test(arguments: ["pcall(function() push.expect(1).to.equal(2) end)", "push.try(push.expect(1).to.equal, 2)"])
    func `a failed expectation fails the run even if the script catches the error`(source: String) async throws {
        let run = try await rehearse(source)
        #expect(run.hasFailed)
    }

    @Test func `push.try turns an operational failure into nil and an error`() async throws {
        let text = try await result(
            of: """
                local value, err = push.try(push.login, { username = "mallory", password = "x" })
                local a, b = push.try(function(x, y) return x, y end, 1, 2)
                return { value == nil, err.code, err.kind, err.message ~= nil, a, b, tostring(err) }
                """)
        #expect(text.hasPrefix(#"[true,"auth.failed","failure",true,1,2,"flow.lua:1: wrong user name"#), "\(text)")
    }

    @Test(
        arguments: [
            ("push.try(push.send, { too = 'a', alert = 'x' })", "args.unknown_key"),
            ("push.try(push.login, {})", "args.missing"), ("push.try(function() return push.sned end)", "script.unknown_name"),
            ("push.try(42)", "args.wrong_type"), ("push.try()", "args.missing"),
            ("push.try(function() local x = nil; return x.y end)", "script.error"),
            ("push.try(error, 'mine')", nil),
        ] as [(String, String?)])
    func `push.try does not catch misuse`(source: String, code: String?) async throws {
        let run = try await rehearse(source)
        if let code, code != "script.error" {
            #expect(run.error?.code == code)
            #expect(run.error?.kind == .misuse)
        } else {
            #expect(run.error == nil || run.error?.code == code)
        }
    }

    @Test func `the log has every line with its level`() async throws {
        let run = try await rehearse(
            """
            print("a", 1, nil, true)
            push.log("b", 2.5)
            push.log.warn "careful"
            push.log.error("bad")
            """)
        let lines = run.events.compactMap { event -> String? in
            guard case .log(let level, let text, let location) = event else { return nil }
            return "\(level) \(text) \(location?.line ?? 0)"
        }
        #expect(lines == ["print a\t1\tnil\ttrue 1", "info b\t2.5 2", "warn careful 3", "error bad 4"])
    }

    @Test func `JSON is written with sorted keys and parsed back`() async throws {
        let text = try await result(
            of: """
                local text = push.json.encode { b = 1, a = { true, "x" } }
                local back = push.json.decode(text)
                local _, err = push.try(push.json.decode, '{"a":}')
                local _, odd = push.try(push.json.encode, { print })
                return { text, back.a[2], err.code, err.details.line, err.details.column, odd.code }
                """)
        #expect(text == #"["{\"a\":[true,\"x\"],\"b\":1}","x","json.invalid",1,6,"json.unsupported"]"#)
    }

    @Test func `time is virtual, and three days pass without waiting`() async throws {
        let run = try await rehearse(
            """
            local begin = { os.time(), push.clock.iso(), os.date("!%F %T") }
            push.clock.advance "3d"
            push.sleep(0.5)
            return { begin, push.clock.iso(), push.clock.now() - os.time(), os.date("%F"),
              os.time { year = 2026, month = 1, day = 5, hour = 9 }, os.difftime(10, 4) }
            """)
        #expect(
            run.result
                == #"[[1767603600,"2026-01-05T09:00:00.000Z","2026-01-05 09:00:00"],"2026-01-08T09:00:00.500Z",0.5,"2026-01-08",1767603600,6.0]"#
        )
        #expect(run.report.ended - run.report.began == .milliseconds(259_200_500))
    }

    @Test(arguments: ["os.date('%c', 1e300)", "os.date('%c', math.maxinteger)", "os.date(print)", "os.time('now')"])
    func `an impossible date raises an error and does not crash`(source: String) async throws {
        #expect(try await failure(of: "\n" + source).location?.line == 2)
    }

    @Test func `every name in the registry exists in the module`() async throws {
        let names = BindingRegistry.standard.bindings.map(\.name)
        let fields = names.filter { !$0.contains(":") }.map { "local _ = \($0)" }
        let methods = names.compactMap { name -> String? in
            let parts = name.split(separator: ":")
            // Flows have no values of these types.
            if ["group", "plugin"].contains(parts[0]) { return nil }
            return parts.count == 2 ? "assert(\(parts[0]).\(parts[1]), '\(name)')" : nil
        }
        let run = try await rehearse(
            ([
                "local device, session = push.device { name = 'a' }, login 'alice'", "local task = push.spawn(function() end)",
                "local simulator = push.simulator.apns",
            ]
                + fields + methods).joined(separator: "\n"))
        #expect(run.error == nil)
    }

    @Test func `reading a flow's declaration for --help runs nothing else`() async throws {
        func declaration(_ lua: String) async throws -> FlowDeclaration? {
            let thread = LuaThread(name: "help")
            defer { thread.stop() }
            let world = try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: TestSecrets())
            let runner = FlowRunner(world: world.world, thread: thread, limits: LuaLimits(), seed: 1)
            return try await runner.declaration(
                of: FlowScript(name: "flow.lua", source: Array(lua.utf8), version: "abc123"))
        }
        let declared = try await declaration("require('push').args { user = { default = 'alice' } } error 'not reached'")
        #expect(declared?.parameters.map(\.name) == ["user"])
        #expect(try await declaration("require('push').sleep '1h' error 'not reached'") == nil)
        #expect(try await declaration("while not pcall(require('push').sleep, '1h') do break end") == nil)
        #expect(try await declaration("return 1") == nil)
        await #expect(throws: LuaError.self) { try await declaration("local x = nil; x.y = 1") }
    }
}
