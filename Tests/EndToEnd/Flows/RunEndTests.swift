import Bindings
import HostSupport
import Lua
import Testing

/// How runs end that would never finish, print without limit or are cancelled.
@Suite struct RunEndTests {
    @Test func `a flow that waits for something that cannot happen fails at the waiting line`() async throws {
        let run = try await rehearse(
            """
            local phone = push.device { name = "p" }
            push.step("wait", function()
              push.all { function() phone:next_push() end, function() push.sleep "1h" end }
            end)
            """)
        #expect(run.error?.code == "flow.stalled")
        #expect(run.steps.map(\.status) == [.failed])
        let wait = try await rehearse("local phone = push.device { name = 'p' }\n\nphone:next_push()")
        // Both wait in their third line.
        #expect(wait.error?.location != nil)
        #expect(wait.error?.location == run.error?.location)
    }

    @Test func `cleanup code can still make calls that do not wait`() async throws {
        let run = try await rehearse(
            """
            push.account { username = "bob", password = "x" }
            local session = push.login { username = "bob", password = "x" }
            local phone = push.device { name = "p" }
            local guard <close> = setmetatable({}, { __close = function()
              session:logout()
              print("logged out", (pcall(push.sleep, "1s")))
            end })
            phone:next_push()
            """)
        #expect(run.error?.code == "flow.stalled")
        #expect(run.log == ["logged out\tfalse"])
    }

    @Test func `a task that waits for a phone can be cancelled`() async throws {
        let text = try await result(
            of: """
                local phone = push.device { name = "p" }
                local task = push.spawn(function() return phone:wait_for { alert = "never", within = "1d" } end)
                push.sleep "1s"
                task:cancel()
                local ok, err = pcall(task.await, task)
                return { ok, err.code, err.message, push.clock.now() - 1767603600 }
                """)
        #expect(text == #"[false,"cancelled","the task was cancelled",1]"#)
    }

    @Test func `push.all returns the results of tasks that have already ended, and of an empty list`() async throws {
        let text = try await result(
            of: """
                local one, two = push.spawn(function() return 1 end), push.spawn(function() return 2 end)
                local bad = push.spawn(function() error { code = "mine" } end)
                one:await()
                pcall(bad.await, bad)
                local ok, err = pcall(push.all, { one, bad })
                return { push.all { one, two }[2], #push.all {}, ok, err.code, select(2, pcall(push.all, { one, one })).message }
                """)
        #expect(text == #"[2,0,false,"mine","value 2 of the list is the same task as value 1"]"#)
    }

    @Test func `an expectation without a matcher fails the run`() async throws {
        let run = try await rehearse("push.expect(1 == 2)\nlocal x = push.expect(1).to.be_nil")
        #expect(run.report.expectations.failedCount == 2)
        #expect(run.report.expectations.failures.allSatisfy { $0.message.contains("no matcher") })
        #expect(run.hasFailed)
    }

    @Test func `endless steps exceed the output budget, and endless failures are counted but not all stored`() async throws {
        let steps = try await rehearse("while true do push.step(('x'):rep(10000), function() end) end")
        #expect(steps.error?.code == "budget.output")
        let checks = try await rehearse("for i = 1, 1000 do push.check(false, ('x'):rep(10000)) end")
        #expect(checks.report.expectations.failedCount == 1000)
        #expect(checks.report.expectations.failures.count == 100)
    }

    @Test func `invalid and unrepresentable durations are rejected`() async throws {
        let text = try await result(
            of: """
                local codes = {}
                for _, wait in ipairs { "1 parsec", -1, 0/0, 1e300, math.maxinteger, "40000d" } do
                  local _, err = pcall(push.sleep, wait)
                  codes[#codes + 1] = err.code
                end
                local _, err
                repeat _, err = push.try(push.sleep, "36600d") until err
                codes[#codes + 1] = err.code
                return codes
                """)
        #expect(
            text
                == #"["args.duration","args.duration","args.duration","args.duration","args.duration","args.duration","time.too_far"]"#)
    }

    @Test func `headers that the platform would ignore are rejected`() async throws {
        for (headers, word) in [
            ("apns = { authorization = 'x' }", "authorization"), ("fcm = { a = 'b' }", "FCM"),
            ("wns = { ['X-WNS-Tag'] = 'a\\nb' }", "X-WNS-Tag"),
            ("browser = { ttls = '60' }", "ttls"), ("wns = { ['ms-cv-x'] = 'a' }", "ms-cv-x"),
        ] {
            let error = try await failure(of: "push.send { to = 'a', alert = 'x', headers = { \(headers) } }")
            #expect(error.code == "send.header")
            #expect(error.message.contains(word))
        }
        let template = try await failure(
            of: "push.send { to = 'a', properties = { x = '1' }, headers = { apns = { ['apns-priority'] = '5' } } }")
        #expect(template.code == "send.no_content")
    }

    @Test func `the size limit comes only from platforms that the send reaches`() async throws {
        let text = try await result(
            of: """
                push.account { username = "bob", password = "x" }
                local session = push.login { username = "bob", password = "x" }
                session:register { device = push.device { name = "pc", platform = "wns" } }
                local _, err = push.try(push.send, { to = "nobody", alert = ("x"):rep(4500) })
                return { push.send { to = "username:bob", alert = ("x"):rep(4500) }.sent, err.code }
                """)
        #expect(text == #"[1,"payload.too_large"]"#)
    }

    @Test func `--json prints an error as JSON even when no flow has run`() async throws {
        let missing = try await BuiltProgram.run(["run", "--json", "no_such_flow.lua"])
        #expect(missing.status == 2)
        #expect(missing.output.contains(#""code": "script.not_found""#))
    }
}
