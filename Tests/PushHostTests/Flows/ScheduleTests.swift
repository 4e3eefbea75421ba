import Bindings
import Lua
import PushCore
import Testing

@Suite struct ScheduleTests {
    @Test func `a scheduled push arrives at its time, a cancelled one never`() async throws {
        let lua = """
            local s = login "ana" local p = phone(s, "ana-1", "apns")
            local a = push.schedule { after = "2h", to = "username:ana", alert = "later" }
            local b = push.schedule { at = "2026-01-05T12:00:00Z", to = "username:ana", alert = "never" }
            push.cancel(b.id)
            local item = p:wait_for { within = "1d" }
            push.sleep "1d"
            return { a.state, a.scheduled_for, item.text, item.received_at, push.outcome(a.id).state, push.outcome(b.id).state, #p:inbox() }
            """
        #expect(
            try await result(of: lua)
                == #"["Scheduled","2026-01-05T11:00:00.000Z","later","2026-01-05T11:00:00.000Z","Completed","Canceled",1]"#)
    }

    @Test(
        arguments: [
            ("push.schedule { to = 'a', alert = 'x' }", "schedule.when"),
            ("push.schedule { to = 'a', alert = 'x', at = 1, after = 1 }", "schedule.when"),
            ("push.schedule { alert = 'x', after = 1 }", "send.no_audience"),
            ("push.schedule { to = 'a', alert = 'x', after = '8d' }", "time.too_far"),
            ("push.schedule { to = 'a', alert = 'x', at = 'tomorrow' }", "args.time"),
            ("push.cancel 'n-0009'", "notification.not_found"), ("push.schedule { to = 'a', after = 1 }", "send.no_content"),
        ])
    func `what cannot be scheduled is refused`(lua: String, code: String) async throws {
        #expect(try await failure(of: lua).code == code)
    }

    @Test func `the report counts what went out late, and warns of what reached nobody or never left`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "ana-1", "apns")
            push.schedule { after = "1h", to = "username:ana", alert = "a" }
            push.schedule { after = "1h", to = "nobody", alert = "b" }
            push.schedule { after = "5h", to = "username:ana", alert = "c" }
            push.sleep "2h"
            """)
        #expect(run.report.delivered == 1)
        #expect(run.report.noTargets == 1)
        #expect(run.warnings.map(\.code) == ["hub.no_target", "schedule.unsent"])
        #expect(run.warnings.last?.location?.line == 4)
    }

    @Test func `what is due when the script ends goes out, and all counts agree`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "ana-1", "apns")
            push.schedule { after = 0, to = "username:ana", alert = "now" }
            push.schedule { at = "2020-01-01T00:00:00Z", to = "username:ana", alert = "past" }
            push.schedule { after = 0, to = "nobody", alert = "x" }
            """)
        #expect(run.report.delivered == 2)
        #expect(run.shown.sorted() == ["ana-1: now", "ana-1: past"])
        #expect(run.warnings.map(\.code) == ["schedule.past", "hub.no_target"])
        #expect(run.warnings.first?.location?.line == 3)
        #expect(run.settled.map(\.state) == ["Completed", "Completed", "NoTargetFound"])
        #expect(run.report.ended == run.report.began)
    }

    @Test func `a slow push service gets the time that it needs for what is due, and what falls due meanwhile goes out too`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "ana-1", "apns")
            push.simulator.apns:latency "10s"
            push.schedule { after = 0, to = "username:ana", alert = "a" }
            push.schedule { after = "5s", to = "username:ana", alert = "b" }
            push.schedule { after = "1h", to = "username:ana", alert = "c" }
            """)
        #expect(run.report.delivered == 2)
        #expect(run.report.ended - run.report.began == .seconds(15))
        #expect(run.warnings.map(\.code) == ["schedule.unsent"])
    }

    @Test func `a flow inside another one settles what is due before it answers`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "ana-1", "apns")
            local run = push.run "inner.lua"
            return { run.delivered, #run.shown }
            """,
            beside: ["inner.lua": "require('push').schedule { after = 0, to = 'username:ana', alert = 'now' }"])
        #expect(run.result == "[1,1]")
        #expect(run.report.delivered == 1)
    }
}
