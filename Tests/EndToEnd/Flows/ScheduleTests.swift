import Bindings
import HostSupport
import Lua
import PushModel
import Synchronization
import Testing

@Suite struct ScheduleTests {
    @Test func `a scheduled push arrives at its time, and a cancelled one never does`() async throws {
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
    func `an invalid schedule is rejected`(lua: String, code: String) async throws {
        #expect(try await failure(of: lua).code == code)
    }

    @Test func `the report counts late deliveries and warns about sends without recipients or never sent`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "ana-1", "apns")
            push.schedule { after = "1h", to = "username:ana", alert = "a" }
            push.schedule { after = "1h", to = "nobody", alert = "b" }
            push.schedule { after = "5h", to = "username:ana", alert = "c" }
            push.sleep "2h"
            """)
        #expect(run.report.sends.delivered == 1)
        #expect(run.report.sends.noTargets == 1)
        #expect(run.warnings.map(\.code) == ["hub.no_target", "schedule.unsent"])
        #expect(run.warnings.last?.location?.line == 4)
    }

    @Test func `notifications that are due when the script ends are delivered, and all counts agree`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "ana-1", "apns")
            push.schedule { after = 0, to = "username:ana", alert = "now" }
            push.schedule { at = "2020-01-01T00:00:00Z", to = "username:ana", alert = "past" }
            push.schedule { after = 0, to = "nobody", alert = "x" }
            """)
        #expect(run.report.sends.delivered == 2)
        #expect(run.shown.sorted() == ["ana-1: now", "ana-1: past"])
        #expect(run.warnings.map(\.code) == ["schedule.past", "hub.no_target"])
        #expect(run.warnings.first?.location?.line == 3)
        #expect(run.settled.map(\.state) == ["Completed", "Completed", "NoTargetFound"])
        #expect(run.report.ended == run.report.began)
    }

    @Test func `due deliveries to a slow service are completed, and so are those that become due meanwhile`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "ana-1", "apns")
            push.simulator.apns:latency "10s"
            push.schedule { after = 0, to = "username:ana", alert = "a" }
            push.schedule { after = "5s", to = "username:ana", alert = "b" }
            push.schedule { after = "1h", to = "username:ana", alert = "c" }
            """)
        #expect(run.report.sends.delivered == 2)
        #expect(run.report.ended - run.report.began == .seconds(15))
        #expect(run.warnings.map(\.code) == ["schedule.unsent"])
    }

    @Test(arguments: [20, 40])
    func `the end of a run asks the hub three times about each notification, however many become due meanwhile`(count: Int) async throws {
        let questions = Mutex<[String: Int]>([:])
        // Each takes ten seconds, in which two more become due.
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "ana-1", "apns")
            push.simulator.apns:latency "10s"
            for i = 0, \(count - 1) do push.schedule { after = 5 * i, to = "username:ana", alert = "a" .. i } end
            """, limits: LuaLimits(cpu: .seconds(600)),
            around: { hub, _ in
                FaultyHub(
                    base: hub,
                    answering: { outcome in
                        questions.withLock { $0[outcome.id, default: 0] += 1 }
                        return outcome
                    })
            })
        #expect(run.report.sends.delivered == count)
        #expect(run.warnings.isEmpty, "\(run.warnings)")
        let asked = questions.withLock { $0 }
        // To find out when it is due, to wait for its end, and to report it.
        #expect(asked.count == count && asked.values.allSatisfy { $0 == 3 }, "\(asked)")
    }

    @Test func `a nested flow delivers its due notifications before it returns`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "ana-1", "apns")
            local run = push.run "inner.lua"
            return { run.delivered, #run.shown }
            """,
            beside: ["inner.lua": "require('push').schedule { after = 0, to = 'username:ana', alert = 'now' }"])
        #expect(run.result == "[1,1]")
        #expect(run.report.sends.delivered == 1)
    }
}
