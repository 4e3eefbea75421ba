import Bindings
import HostSupport
import Lua
import PushModel
import Testing

/// Work, storage and output of the host for a run count against the run's budgets.
@Suite struct RunBudgetTests {
    private static let phone = "local p = push.device { name = 'p' } push.install('p', { device = p, tags = { 't' } }) "

    /// Bytes of memory charged to a run that passes.
    private func memory(of lua: String) async throws -> Int {
        let account = RunAccount(RunAccount.Limits(cpu: .seconds(600), memory: 1 << 30))
        let run = try await rehearse(lua, limits: LuaLimits(memory: 1 << 30, cpu: .seconds(600)), account: account)
        #expect(run.hasPassed, "\(run.report.verdict)")
        return account.used(.memory)
    }

    /// Size of the text that a report prints.
    private func bytes(of events: [FlowEvent]) -> Int {
        var sum = 0
        for event in events {
            switch event {
            case .log(_, let text, _): sum += text.utf8.count
            case .shown(let items): for item in items { sum += item.text.utf8.count }
            case .stepEnded(let step): for item in step.shown { sum += item.text.utf8.count }
            case .sent(let send), .completed(let send): sum += 20 + send.audience.utf8.count
            case .warning(let warning): sum += warning.message.utf8.count
            case .stepStarted, .core, .crossed: break
            }
        }
        return sum
    }

    @Test(arguments: [
        "while true do push.send { to = 't', alert = ('x'):rep(3000) } end",
        "while true do pcall(push.send, { to = 't', alert = ('x'):rep(3000) }) end",
        "while true do push.step('s', function() push.send { to = 't', alert = ('x'):rep(3000) } end) end",
        "while true do push.send { to = ('nobody'):rep(15), alert = 'x' } end",
        "while true do push.schedule { after = '1d', to = ('nobody'):rep(15), alert = 'x' } end",
        "while true do push.rehearse(('x'):rep(3000), function() end) end",
    ])
    func `reports of sends and of what phones show count against the output budget`(lua: String) async throws {
        let limit = 300 << 10
        let account = RunAccount(RunAccount.Limits(cpu: .seconds(600), memory: 1 << 30, output: limit))
        let run = try await rehearse(Self.phone + lua, limits: LuaLimits(memory: 1 << 30, cpu: .seconds(600)), account: account)
        #expect(run.error?.code == "budget.output", "\(run.report.verdict)")
        // The budget of the run, and that of its closing report.
        #expect(bytes(of: run.events) <= limit + (256 << 10))
    }

    @Test(arguments: [
        ("print('')", 7), ("push.log('')", 7), ("print('\\1')", 12), ("print(('\\n'):rep(99))", 700),
    ])
    func `a log entry counts with the margin and the escapes that are printed`(lua: String, printed: Int) async throws {
        let account = RunAccount(RunAccount.Limits(cpu: .seconds(600), memory: 1 << 30, output: 30_000))
        let run = try await rehearse("while true do \(lua) end", limits: LuaLimits(memory: 1 << 30, cpu: .seconds(600)), account: account)
        #expect(run.error?.code == "budget.output", "\(run.report.verdict)")
        #expect(!run.log.isEmpty && run.log.count * printed <= 30_000, "\(run.log.count)")
    }

    @Test func `the indentation of steps counts against the output budget`() async throws {
        let account = RunAccount(RunAccount.Limits(cpu: .seconds(600), memory: 1 << 30, output: 300 << 10))
        let run = try await rehearse(
            "local function f(n) push.step('', function() if n > 0 then f(n - 1) end end) end while true do f(60) end",
            limits: LuaLimits(memory: 1 << 30, cpu: .seconds(600)), account: account)
        #expect(run.error?.code == "budget.output", "\(run.report.verdict)")
        var printed = 0
        for event in run.events {
            switch event {
            case .stepStarted(_, let depth, _): printed += 2 * (depth + 1) + 5
            case .stepEnded(let step): printed += 2 * (step.depth + 1) + 5
            default: break
            }
        }
        #expect(printed <= 300 << 10)
    }

    @Test(arguments: [("print('')", 80), ("print(('\\1'):rep(100))", 680), ("push.step('', function() end)", 300)])
    func `a full report counts each entry with its keys and escapes, and the memory that stores it`(lua: String, printed: Int) async throws
    {
        func used(times: Int) async throws -> (output: Int, memory: Int) {
            let account = RunAccount(RunAccount.Limits(cpu: .seconds(600), memory: 1 << 30, output: 64 << 20))
            let run = try await rehearse(
                "for i = 1, \(times) do \(lua) end", limits: LuaLimits(memory: 1 << 30, cpu: .seconds(600)), account: account, detail: .full
            )
            #expect(run.hasPassed, "\(run.report.verdict)")
            return (account.used(.output), account.used(.memory))
        }
        let (one, many) = (try await used(times: 1), try await used(times: 5001))
        #expect(many.output - one.output >= 5000 * printed)
        // Three times the printed size are charged; the heap of Lua may have shrunk.
        #expect(many.memory - one.memory >= 5000 * (300 + printed))
    }

    @Test func `a nested flow is charged for the log that the outer flow receives`() async throws {
        let run = try await rehearse(
            "push.run('child.lua')", limits: LuaLimits(memory: 6 << 20, cpu: .seconds(600)),
            beside: ["child.lua": "for i = 1, 100000 do print('') end"])
        #expect(run.error?.code == "budget.memory", "\(run.report.verdict)")
    }

    @Test(arguments: [
        "local i = 0 while true do i = i + 1 push.device { name = 'd' .. i } end",
        "local i = 0 while true do i = i + 1 pcall(push.device, { name = 'd' .. i }) end",
        "while true do push.send { to = 't', payload = { fcm = { message = { data = { x = ('x'):rep(3000) } } } } } end",
        "local i = 0 while true do i = i + 1 push.account { username = ('u'):rep(100) .. i, password = 'x' .. i } end",
        "while true do p:show { body = ('x'):rep(3000) } end",
        "while true do push.expect(1) end",
        "local i = 0 while true do i = i + 1 local d = push.device { name = 'd' .. i } for k = 1, 50 do d:rotate_token() end end",
        "local i = 0 while true do i = i + 1 local t = {} for k = 1, 100 do t[k] = 't' .. i .. '-' .. k end "
            + "push.install('i' .. i, { device = p, tags = t }) end",
        "while true do push.simulator.apns:fail { reason = 'Unregistered', next = 1 } end",
        "while true do push.simulator.fcm:disconnect { next = 1 } end",
        "push.step('s', function() while true do push.send { to = ('nobody'):rep(15), alert = 'x' } end end)",
    ])
    func `what the hub and the phones store counts against the memory budget`(lua: String) async throws {
        let run = try await rehearse(Self.phone + lua, limits: LuaLimits(memory: 6 << 20, cpu: .seconds(600)))
        #expect(["budget.memory", "budget.output"].contains(run.error?.code), "\(run.report.verdict)")
        #expect(run.error?.kind == .budget)
    }

    @Test func `a device that changes its handle again and again needs little memory`() async throws {
        let run = try await rehearse(
            Self.phone + "for i = 1, 2000 do p:rotate_token() end for i = 1, 1000 do p:uninstall() p:reinstall() end",
            limits: LuaLimits(memory: 4 << 20, cpu: .seconds(600)))
        #expect(run.hasPassed, "\(run.report.verdict)")
    }

    @Test func `each tag of an installation is charged`() async throws {
        func memory(tags: Int) async throws -> Int {
            try await self.memory(
                of: "local p = push.device { name = 'p' } local t = {} for k = 1, \(tags) do t[k] = 'tag-' .. k end "
                    + "push.install('p', { device = p, tags = t })")
        }
        #expect(try await memory(tags: 500) - memory(tags: 1) > 499 * 150)
    }

    @Test func `headers and the audience of a notification are charged, also if it is cancelled`() async throws {
        func memory(_ fields: String) async throws -> Int {
            try await self.memory(
                of: """
                    local headers, wide = { apns = { ["apns-x"] = ("x"):rep(50000) } }, "t" .. ("||t"):rep(2000)
                    for i = 1, 20 do
                      local sent = push.schedule { after = "1d", payload = { apns = { aps = { alert = "x" } } }, \(fields) }
                      push.cancel(sent.id)
                    end
                    """)
        }
        let base = try await memory("to = 't'")
        #expect(try await memory("to = 't', headers = headers") - base > 900_000)
        // 2,001 operands with 150 bytes each.
        #expect(try await memory("to = wide") - base > 20 * 2_000 * 150)
    }

    @Test func `the audience of each send in a step is charged`() async throws {
        func memory(_ audience: String) async throws -> Int {
            try await self.memory(
                of: "local long = ('a'):rep(100) .. (' '):rep(20000) .. '|| b' push.step('s', function() for i = 1, 20 do "
                    + "push.send { to = \(audience), alert = 'x' } end end)")
        }
        #expect(try await memory("long") - memory("'a||b'") > 300_000)
    }

    @Test func `what each phone stores of a notification is charged`() async throws {
        let memory = try await memory(
            of: """
                for i = 1, 20 do push.install("i" .. i, { device = push.device { name = "f" .. i, platform = "fcm" }, tags = { "t" } }) end
                for i = 1, 10 do push.send { to = "t", payload = { fcm = { message = { data = { x = ("x"):rep(3000) } } } } } end
                """)
        // Once in the inbox of each phone, and once in the record of each request.
        #expect(memory > 2 * 20 * 10 * 3000)
    }

    @Test func `a nested run shares the budget of the outer run`() async throws {
        let child = "print(('x'):rep(1 << 20))"
        let run = try await rehearse("for i = 1, 10 do pcall(push.run, 'child.lua') end", beside: ["child.lua": child])
        #expect(run.error?.code == "budget.output")
        #expect(run.log.count == 3)
    }

    @Test func `a loop of host calls exceeds the CPU budget, even if it catches every error`() async throws {
        let error = try await failure(
            of: "while true do pcall(push.installation, 'none') end", limits: LuaLimits(cpu: .milliseconds(300)))
        #expect(error.code == "budget.cpu")
    }

    @Test func `the report of a run over its budget is short and states what it omits`() async throws {
        let run = try await rehearse(
            """
            for i = 1, 1200 do push.schedule { after = "1d", to = "t", alert = "x" } end
            print(("x"):rep(5 << 20))
            """, limits: LuaLimits(memory: 256 << 20, cpu: .seconds(600)))
        #expect(run.error?.code == "budget.output")
        #expect(run.error?.location?.line == 2)
        #expect(run.settled.count <= 1000)
        #expect(run.warnings.last?.code == "schedule.unsettled")
        #expect(run.warnings.last?.message.contains("more scheduled notifications, because the run exceeded its budget") == true)
    }

    @Test func `deliveries after the script's end can exceed the budget and fail the run`() async throws {
        // The phones store more than the schedule held.
        let run = try await rehearse(
            """
            for i = 1, 60 do push.install("i" .. i, { device = push.device { name = "p" .. i }, tags = { "t" } }) end
            local text = ("x"):rep(3000)
            for i = 1, 60 do push.schedule { after = 0, to = "t", payload = { apns = { aps = { alert = text } } } } end
            """, limits: LuaLimits(memory: 5 << 20, cpu: .seconds(600)))
        #expect(run.error?.code == "budget.memory", "\(run.report.verdict)")
    }

    @Test(arguments: [
        "for i = 1, 400 do a[i], b[i] = ('x'):rep(50000) .. i, ('y'):rep(50000) .. i end",
        "for i = 1, 200000 do a[i], b[i] = i, -i end",
        "a[('k'):rep(1 << 20)], b[1] = 1, ('\\0'):rep(1 << 20)",
        "a[1], b[1] = ('é'):rep(1 << 20), {}",
    ])
    func `a failed expectation shows a bounded part of its values and counts against the output budget`(lua: String) async throws {
        let account = RunAccount(RunAccount.Limits(cpu: .seconds(600), memory: 1 << 30))
        let run = try await rehearse(
            "local a, b = {}, {} \(lua) push.expect(a).to.equal(b)", limits: LuaLimits(memory: 1 << 30, cpu: .seconds(600)),
            account: account)
        let error = try #require(run.error)
        #expect(error.code == "expect.failed")
        // The limit for one expectation, including escapes.
        #expect(error.message.utf8.count < 5 << 16, "\(error.message.utf8.count)")
        guard case .table(let details) = error.details else {
            Issue.record("no details")
            return
        }
        for name in ["expected", "actual"] {
            guard case .string(let text)? = details.fields[name] else {
                Issue.record("no \(name)")
                continue
            }
            #expect(text.utf8.count < 5 << 16)
            #expect(!text.contains("\u{FFFD}"))
        }
        #expect(account.used(.output) > 0)
    }

    @Test func `differences beyond the limit are only counted`() async throws {
        let run = try await rehearse(
            """
            local a, b = {}, {}
            for i = 1, 10 do a[i], b[i] = ("x"):rep(20000) .. i, ("y"):rep(20000) .. i end
            push.expect(a).to.equal(b)
            """, limits: LuaLimits(memory: 64 << 20))
        let lines = try #require(run.error?.message.split(separator: "\n"))
        #expect(lines.first == "the tables have 10 differences:" && lines.last == "… and 8 more", "\(lines.map(\.count))")
    }

    @Test func `a small run uses little memory`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" local p = phone(s, "ana-1", "apns")
            for i = 1, 50 do push.send { to = "username:ana", alert = "hello " .. i } end
            push.expect(p:inbox()).to.have_length(50)
            """, limits: LuaLimits(memory: 4 << 20))
        #expect(run.hasPassed, "\(run.report.verdict)")
    }
}
