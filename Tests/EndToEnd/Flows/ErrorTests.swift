import Bindings
import HostSupport
import Lua
import PushLab
import PushModel
import Testing

@testable import PushHost

@Suite struct ErrorTests {
    /// Every script has its error in the third line.
    @Test(
        arguments: [
            ("local x = = 1", "script.syntax", "a value is missing before ="),
            ("for i = 1, 2 do\n", "script.syntax", "the \"for\" of line 3 has no \"end\""),
            ("push.sned { to = 'a' }", "script.unknown_name", "push has no \"sned\"; did you mean \"send\"?"),
            ("push.send { to = push.evryone, alert = 'x' }", "script.unknown_name", "did you mean \"everyone\"?"),
            ("push.tag.usr 'alice'", "script.unknown_name", "push.tag has no \"usr\"; did you mean \"user\"?"),
            ("push.expect(1).too.equal(1)", "script.unknown_name", "did you mean \"to\"?"),
            ("push.expect(1).to.equals(1)", "script.unknown_name", "did you mean \"equal\"?"),
            ("push.mine = 1", "script.read_only", "push.mine cannot be set"),
            ("s:regster { device = p }", "script.unknown_name", nil),
            ("push.send { tags = 'a', alert = 'x' }", "args.unknown_key", "did you mean \"to\"?"),
            ("s:register { devise = p }", "args.unknown_key", "did you mean \"device\"?"),
            ("push.device { nam = 'x' }", "args.unknown_key", "did you mean \"name\"?"),
            ("push.device { name = 'x', platform = 'apnss' }", "args.platform", "did you mean \"apns\"?"),
            ("push.send { to = 'a', payload = { apnz = '{}' } }", "args.platform", "did you mean \"apns\"?"),
            ("push.send { to = 'a', payload = { ios = '{}', apns = '{}' } }", "args.platform", "\"apns\" and \"ios\" in \"payload\""),
            ("push.wire 'fmc'", "args.platform", "did you mean \"fcm\"?"),
            ("push.send { to = 42, alert = 'x' }", "args.wrong_type", "got the number 42"),
            ("push.send { to = s, alert = 'x' }", "args.wrong_type", "got a session"),
            ("push.send { to = 'a', alert = '\\xff' }", "args.wrong_type", "text that is not UTF-8"),
            ("push.step('x')", "args.missing", "push.step needs \"fn\""),
            ("push.send { to = 'a' }", "send.no_content", "one of \"alert\", \"properties\" and \"payload\""),
            ("push.send { to = 'a', alert = 'x', properties = {} }", "send.no_content", "\"alert\" and \"properties\""),
            ("push.send { to = 'a', alert = '' }", "args.empty", "push.send: \"alert\" is empty"),
            ("push.send { alert = 'x' }", "send.no_audience", "there is no default audience"),
            ("push.send { to = '', alert = 'x' }", "send.no_audience", "\"to\" is empty"),
            ("push.send { to = '  ', alert = 'x' }", "send.no_audience", "\"to\" is empty"),
            ("push.send { to = push.evryone or 'x', alert = 'x' }", "script.unknown_name", nil),
            ("push.send { to = '*', alert = 'x' }", "tag_expression.invalid", nil),
            ("push.send { to = 'a && (b', alert = 'x' }", "tag_expression.invalid", "at character"),
            ("push.send { to = 'a', device = p, alert = 'x' }", "send.audience", "cannot be combined"),
            ("s:register { device = p, tags = { 'no spaces' } }", "tag.invalid", nil),
            ("push.tag.user 'al ice'", "tag.invalid", nil),
            ("push.tag.any {}", "args.empty", nil),
            ("s:register { device = p, template = '{\"aps\":\"$(x\"}' }", nil, "line 1, column"),
            ("s:register { device = p, template = { bdy = '{}' } }", "args.unknown_key", "did you mean \"body\"?"),
            ("push.login { username = 'alice', password = 'wrong' }", "auth.failed", "\"alice\""),
            ("push.account { username = 'al ice', password = 'x' }", "auth.username", nil),
            ("push.send { to = 'a', alert = ('x'):rep(4100) }", "payload.too_large", "APNs accepts at most 4096"),
            ("push.send { to = 'a', payload = { wns = ('x'):rep(5001) } }", "payload.too_large", "WNS accepts at most 5000"),
            ("push.send { to = 'a', payload = { apns = '{' } }", "payload.invalid", "line 1, column 2"),
            ("push.send { to = 'a', payload = { fcm = '' } }", "payload.empty", nil),
            ("push.sleep 'soon'", "args.duration", "push.sleep: \"duration\" must be a duration, got the string \"soon\""),
            ("push.sleep(-1)", "args.duration", "push.sleep: \"duration\""),
            ("p:wait_for { within = '-5s' }", "args.duration", "device:wait_for: \"within\" must be a duration"),
            ("push.schedule { to = 'a', alert = 'x', after = '2 h' }", "args.duration", "push.schedule: \"after\" must be a duration"),
            ("push.schedule { to = 'a', alert = 'x', at = 'soon' }", "args.time", "push.schedule: \"at\" must be a time"),
            ("push.rehearse('x', coroutine.create(print))", "value.unsupported", "argument 2 of push.rehearse is a thread"),
            ("push.spawn(coroutine.create(print))", "args.wrong_type", "push.spawn: \"fn\" must be a function, got a thread"),
            ("push.try(push.spawn(print))", "args.wrong_type", "push.try: \"fn\" must be a function, got a task"),
            ("push.all { print, coroutine.create(print) }", "args.wrong_type", "functions or tasks, got a thread at index 2"),
            ("push.all { print, p }", "args.wrong_type", "push.all: \"functions\" must be a list of"),
            ("push.all { push.spawn(print), p }", "args.wrong_type", "got a device at index 2"),
            ("p:on_push(coroutine.create(print))", "value.unsupported", "argument 1 of device:on_push is a thread"),
            ("push.json.encode(coroutine.create(print))", "value.unsupported", "argument 1 of push.json.encode is a thread"),
            ("push.send { to = 'a', data = { { coroutine.create(print) } } }", nil, "push.send"),
            ("push.all { a = print }", "args.wrong_type", "got a table with named keys"),
            ("push.all { [2] = print }", "args.wrong_type", "push.all: \"functions\" must be a list without holes, got nil at index 1"),
            ("push.all { print, nil, print }", "args.wrong_type", "a list without holes, got nil at index 2"),
            ("push.all { [math.maxinteger] = print }", "args.wrong_type", "got nil at index 1"),
            ("push.all { [0] = print }", "value.unsupported", "argument 1 of push.all has the key [0]"),
            ("push.run '.'", "script.not_found", ". does not exist"),
            ("push.run ''", "script.not_found", "push.run: \"file\" must be the path of a script"),
            ("push.simulator.apns:fail { reason = 'Unregistered', next = -1 }", "simulator.count", "simulator:fail: \"next\" must be"),
            ("push.simulator.apns:disconnect { next = 0 }", "simulator.count", "simulator:disconnect: \"next\" must be at least 1"),
            (
                "push.schedule { to = 'a', alert = 'x', at = 1, after = 1 }", "schedule.when",
                "push.schedule: \"at\" and \"after\" cannot be combined"
            ),
            ("push.schedule { to = 'a', alert = 'x', after = '8d' }", "time.too_far", "push.schedule: \"after\" is more than seven days"),
            ("push.schedule { to = 'a', alert = 'x', at = '2030-01-01T00:00:00Z' }", "time.too_far", "push.schedule: \"at\" is more than"),
            ("push.send { to = '', alert = 'x' }", "send.no_audience", "push.send: \"to\" is empty"),
            ("p:storage().a = print", "args.wrong_type", "device:storage: \"a\" must be a string, a number, true or false, got a function"),
            ("p:storage().a = {}", "args.wrong_type", "got a table"), ("p:storage()[''] = 1", "args.empty", "device:storage: \"key\" is"),
            ("p:storage()['\\xff'] = 1", "args.wrong_type", "device:storage: \"key\" must be a string, got text that is not UTF-8"),
            ("p:storage().a = '\\xff'", "args.wrong_type", "device:storage: \"a\" must be"),
            ("p:storage()[1] = 1", "args.wrong_type", "device:storage: \"key\" must be a string, got the number 1"),
            ("push.expect('a').to.match '['", "args.pattern", "push.expect(…).to.match: malformed pattern"),
            ("push.expect('a').to_not.match '%'", "args.pattern", "push.expect(…).to_not.match: malformed pattern (ends with '%')"),
            ("push.expect(setmetatable({}, { __index = 1 })).to.equal { a = { 1 } }", "script.error", "to.equal: attempt to index"),
            ("push.check(true, setmetatable({}, { __tostring = function() return 7 end })) error '7'", "script.error", "7"),
            ("print(setmetatable({}, { __tostring = function() return {} end }))", "args.wrong_type", "print got a table whose __tostring"),
            ("print(setmetatable({}, { __tostring = function() error 'mine' end }))", "script.error", "mine"),
            ("push.log.warn(setmetatable({}, { __tostring = function() return {} end }))", "args.wrong_type", "push.log.warn got"),
            ("push.check(false, setmetatable({}, { __tostring = function() return {} end }))", "args.wrong_type", "push.check got"),
            ("p.inbox()", "args.receiver", "without its device"),
            ("s.register { device = p }", "args.receiver", "without its session"),
            ("push.outcome 'n-9'", "notification.not_found", "n-9"),
            ("push.secret 'nothing_here'", "secret.not_found", nil),
            ("local x = nil; return x.y", "script.error", "attempt to index a nil value (local 'x')"),
            ("error 'mine'", "script.error", "mine"), ("error { code = 'own.code', message = 'mine' }", "own.code", "mine"),
            ("io.open 'x'", nil, nil), ("os.execute 'ls'", nil, nil), ("require 'socket'", nil, nil),
            ("load('\\27Lua')()", nil, nil), ("dofile 'x.lua'", nil, nil), ("os.exit(0)", nil, nil),
        ] as [(String, String?, String?)])
    func `an error states its code, the problem and the line of the script`(
        line: String, code: String?, part: String?
    ) async throws {
        let error = try await failure(of: "local s = login 'alice'\nlocal p = push.device { name = 'a-1' }\n\(line)\n")
        if let code { #expect(error.code == code) }
        if let part { #expect(error.message.contains(part) || error.hint?.contains(part) == true, "\(error)") }
        #expect(error.location?.chunk == "flow.lua")
        let last = code == "script.syntax" && line.hasSuffix("\n") ? 3...6 : 3...3
        #expect(last.contains(error.location?.line ?? 0), "\(error)")
        #expect(!error.message.contains("[push]"))
    }

    @Test func `a caught error shows only lines of scripts, and has a hint`() async throws {
        let run = try await rehearse(
            """
            local function odd(meta) return setmetatable({ 1 }, meta) end
            local function chain() local t = {} for i = 1, 100000 do t = { t } end return t end
            local deep, deeper = chain(), chain()
            local function down() return push.step("down", down) end
            local function inner() return push.try(inner) end
            local function described() return (push.step("x", described)) end
            local tried = {
              function() push.expect("a").to.match "[" end,
              function() push.expect("a").to.match("%") end,
              function() push.expect(deep).to.equal(deeper) end,
              function() push.expect({ deep }).to_not.contain(deeper) end,
              function() push.expect(odd { __pairs = function() end }).to.equal { 1, 2 } end,
              function() push.expect(odd { __len = function() return {} end }).to.have_length(1) end,
              function() push.expect(odd { __len = function() return print end }).to.have_length(1) end,
              function() push.expect(odd { __tostring = function() return {} end }).to.be_nil() end,
              function() push.expect({ 1 }).to.equal(odd { __index = print }) end,
              function() print(odd { __tostring = function() return {} end }) end,
              function() push.check(true, odd { __tostring = function() return {} end }) end,
              function() return push[odd { __tostring = function() return {} end }] end,
              down, function() local function again() return (again()) + push.try(again) end push.try(again) error { code = "x" } end,
            }
            local told = {}
            for place, fn in ipairs(tried) do
              for _, call in ipairs { pcall, push.try } do
                local results = table.pack(pcall(call, fn))
                local err = results[3] or results[2]
                local text = tostring(err)
                if text:find("[push]", 1, true) or text:find("[expect", 1, true) then told[#told + 1] = place .. " " .. text end
                if place <= 4 and not (err.code:find "^args" and err.hint and err.where == "flow.lua:" .. 7 + place) then
                  told[#told + 1] = place .. " " .. text
                end
              end
            end
            return table.concat(told, "; ")
            """)
        #expect(run.result == "\"\"", "\(String(describing: run.error))")
    }

    @Test(
        arguments: [
            "push.expect(1).to.match 'x'", "push.expect('x').to.match '['", "push.expect(1).to:exist()", "push.expect(1).to.be_above 'x'",
            "local a, b = {}, {} for i = 1, 300 do a, b = { a }, { b } end push.expect(a).to.equal(b)",
        ])
    func `an expectation whose matcher raises an error does not count as one without a matcher`(lua: String) async throws {
        let run = try await rehearse("local ok = pcall(function() \(lua) end) return ok")
        #expect(run.result == "false")
        #expect(run.report.expectations.failedCount == 0)
        #expect(run.hasPassed)
    }

    @Test(
        arguments: [
            ("push.step('a', function()\n push.send { too = 'x' }\n end)", 2),
            ("push.try(function()\n\n push.send { too = 'x' } end)", 3),
            ("push.all {\n function() push.send { too = 'x' } end }", 2),
            ("push.spawn(function()\n push.send { too = 'x' } end):await()", 2),
            ("local function f()\n push.expect(1).to.equal(2)\n end\n f()", 2),
            ("pcall(error)\ncoroutine.wrap(function()\n push.fail 'x' end)()", 3),
        ])
    func `the location is the line of the call, at any depth`(source: String, line: Int) async throws {
        #expect(try await failure(of: source).location?.line == line)
    }

    @Test func `a caught error has the same fields as its report`() async throws {
        let text = try await result(
            of: """
                local ok, e = pcall(push.send, { too = "a" })
                return { ok, e.code, e.kind, e.message, e.hint ~= nil, e.where, e.retryable, e.details.key, tostring(e), e.run, e.script }
                """)
        #expect(
            text
                == #"[false,"args.unknown_key","misuse","push.send has no key \"too\"; did you mean \"to\"?",true,"flow.lua:1",false,"too","flow.lua:1: push.send has no key \"too\"; did you mean \"to\"? (args.unknown_key)","r-0007","abc123"]"#
        )
    }

    @Test func `an uncaught error carries the file, the line, the version of the script and the run`() async throws {
        for source in ["push.fail 'x'", "error 'x'", "push.send {}", "push.spawn(function() push.fail 'x' end)", "("] {
            let error = try await failure(of: source)
            #expect(error.location?.chunk == "flow.lua", "\(source)")
            #expect(error.annotations == ["run": "r-0007", "script": "abc123"], "\(source)")
        }
    }

    @Test func `the excerpt marks the key, and for a tag expression the character`() async throws {
        func lines(_ lua: String) async throws -> [String] {
            let run = try await rehearse(lua, opening: "local push = require 'push'\n")
            return Diagnostic(
                try #require(run.error), source: Array(run.source.utf8), scriptName: "flow.lua", palette: Palette(isOn: false)
            ).lines
        }
        let key = try await lines("push.send {\n  alert = 'x',\n  tags = 'alice',\n}")
        #expect(
            key.prefix(4) == [
                "error[args.unknown_key]: push.send has no key \"tags\"; did you mean \"to\"?", "  flow.lua:4:3",
                "   4 |   tags = 'alice',", "     |   ^",
            ])
        #expect(key.last == "  more      pushhost explain args.unknown_key             run r-0007 · script abc123")
        let expression = try await lines("push.send { to = 'a && (b', alert = 'x' }")
        #expect(expression.contains { $0.contains("a && (b") && !$0.contains("push.send") })
        #expect(expression.contains { $0.drop { $0 == " " } == "^" })
    }

    @Test func `an endless loop exceeds the CPU budget, even if it catches every error`() async throws {
        let limits = LuaLimits(cpu: .milliseconds(200))
        for source in ["while true do end", "while true do pcall(function() while true do end end) end"] {
            let error = try await failure(of: source, limits: limits)
            #expect(error.code == "budget.cpu")
            #expect(error.kind == .budget)
        }
    }

    @Test(arguments: ["print(('x'):rep(1000))", "push.log(('x'):rep(1000))", "pcall(print, ('x'):rep(1000))"])
    func `endless output exceeds the output budget`(source: String) async throws {
        let run = try await rehearse("for i = 1, 10000 do \(source) end")
        #expect(run.log.reduce(0) { $0 + $1.utf8.count + 1 } <= 4 << 20)
        if !source.hasPrefix("pcall") { #expect(run.error?.code == "budget.output") }
    }

    @Test func `endless allocation exceeds the memory budget`() async throws {
        let error = try await failure(
            of: "local t = {}\nwhile true do t[#t + 1] = ('x'):rep(100000) .. #t end", limits: LuaLimits(memory: 16 << 20))
        #expect(error.code == "budget.memory")
    }

    @Test func `a cancelled script runs its cleanup and cannot prevent the cancellation`() async throws {
        let thread = LuaThread(name: "cancelled")
        defer { thread.stop() }
        let world = try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: TestSecrets())
        let runner = FlowRunner(world: world.world, thread: thread, limits: LuaLimits(), seed: 1)
        let source = """
            local push = require "push"
            print "begun"
            while true do
              local ok, err = pcall(function() while true do end end)
              if err.code == "cancelled" then print "cleaned up" end
            end
            """
        let (begun, begin) = AsyncStream<String>.makeStream()
        let task = Task {
            await runner.run(
                FlowScript(name: "flow.lua", source: Array(source.utf8), version: "abc123"), run: "r-1",
                events: { if case .log(_, let text, _) = $0 { begin.yield(text) } })
        }
        var lines: [String] = []
        for await line in begun {
            lines.append(line)
            if lines.count == 1 { task.cancel() } else { break }
        }
        let report = await task.value
        #expect(lines == ["begun", "cleaned up"])
        guard case .raised(let error) = report.verdict else { return #expect(Bool(false)) }
        #expect(error.code == "cancelled")
    }

    @Test(
        arguments: [
            ("pirnt('x')", "there is no \"pirnt\"; did you mean \"print\"?"), ("return nothing.at.all", "there is no \"nothing\""),
        ])
    func `an unknown name is reported with a suggestion`(lua: String, hint: String) async throws {
        let error = try await failure(of: "\n\(lua)")
        #expect(error.kind == .runtime)
        #expect(error.hint?.hasPrefix(hint) == true, "\(error.hint ?? "none")")
        #expect(error.location?.line == 2)
    }
}
