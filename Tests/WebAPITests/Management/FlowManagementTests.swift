import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel
import Storage
import Support
import Testing

@testable import WebAPI

@Suite struct FlowManagementTests {
    private func bench(_ executor: ScriptedFlows = ScriptedFlows()) async throws -> (ManagementBench, FlowDispatcher) {
        let flows = FlowDispatcher(
            store: MemoryRunStore(), executor: executor, clock: VirtualClock(now: HubBench.startTime), zones: OnlyUTC(),
            start: { work in Task { await work() } })
        let cron = try CronSchedule("30 9 * * MON-FRI")
        try await flows.begin([
            ServedFlow(
                name: "greet", script: "greet.lua", arguments: ["text": "Hi"],
                triggers: FlowTriggers(
                    access: .key(.send), schedules: [ScheduleRule(name: "morning", flow: "greet", cron: cron)],
                    events: [.registrationCreated]), policy: RunPolicy(timeout: .seconds(60)))
        ])
        return (try await ManagementBench(flows: flows), flows)
    }

    @Test func `Flows are listed with their triggers, and one is shown with its parameters`() async throws {
        let (bench, _) = try await bench()
        let flow = try #require(try await bench.call(.get, "/api/v1/flows")["items"]?.array?.first)
        #expect(flow["flow"] == "greet" && flow["http"] == "send" && flow["schedules"] == ["morning"])
        #expect(flow["events"] == ["registration.created"] && flow["timeout"] == "1 min" && flow["guarantee"] == "at-most-once")
        let one = try await bench.call(.get, "/api/v1/flows/greet")
        #expect(one["version"] == "abc123" && one["parameters"]?["type"] == "object")
        #expect(await refusal { try await bench.call(.get, "/api/v1/flows/gret") }?.code == "flow.not_found")
    }

    @Test func `Runs are started, listed in pages, shown, cancelled and repeated, with their initiator`() async throws {
        let executor = ScriptedFlows()
        let (bench, flows) = try await bench(executor)
        for number in 1...3 {
            let run = try await bench.call(.post, "/api/v1/flows/greet/runs", ["arguments": ["n": .integer(Int64(number))]])
            await flows.finished(number.signed)
            #expect(run["runId"] == .string("r-\(number)"))
        }
        #expect(try await bench.pages("/api/v1/runs?top=2").sizes == [2, 1])
        #expect(try await bench.list("/api/v1/runs?flow=greet", "runId") == ["r-3", "r-2", "r-1"])
        #expect(try await bench.list("/api/v1/runs?state=failed", "runId") == [])
        let run = try await bench.call(.get, "/api/v1/runs/r-2")
        #expect(run["arguments"] == ["text": "Hi", "n": 2] && run["steps"]?.array?.count == 1 && run["notifications"] == ["n-r-2"])
        #expect(run["trigger"] == ["kind": "command", "by": .string("key:\(try bench.root.name)")])
        executor.hold("greet")
        let again = try await bench.call(.post, "/api/v1/runs/r-1/rerun", .object(JSONObject()))
        #expect(again["trigger"]?["run"] == "r-1")
        #expect(try await bench.call(.post, "/api/v1/runs/r-4/cancel", .object(JSONObject()))["state"] == "cancelled")
        #expect(await refusal { try await bench.call(.post, "/api/v1/runs/r-4/cancel") }?.status == 409)
        #expect(await refusal { try await bench.call(.get, "/api/v1/runs/r-99") }?.code == "run.not_found")
        #expect(
            await refusal { try await bench.call(.post, "/api/v1/flows/greet/runs", ["arguments": ["bad": 1]]) }?.code == "args.invalid")
        let foreign = try bench.rule(Namespace.fullRule)
        #expect(await refusal { try await bench.call(.get, "/api/v1/runs", by: foreign) }?.status == 401)
    }

    @Test func `Schedules are added, paused, resumed and removed, and show their next five times`() async throws {
        let (bench, _) = try await bench()
        let added = try await bench.call(
            .post, "/api/v1/schedules", ["name": "evening", "flow": "greet", "cron": "0 18 * * *", "missed": "once", "arguments": ["a": 1]])
        #expect(added["next"]?.array?.count == 5 && added["next"]?.array?.first == "2026-01-05T18:00:00.000Z")
        #expect(try await bench.list("/api/v1/schedules", "name") == ["evening", "morning"])
        #expect(try await bench.call(.post, "/api/v1/schedules/evening/pause")["isPaused"] == true)
        #expect(try await bench.call(.get, "/api/v1/schedules/evening")["isPaused"] == true)
        #expect(try await bench.call(.post, "/api/v1/schedules/evening/resume")["isPaused"] == false)
        try await bench.call(.delete, "/api/v1/schedules/evening")
        func code(_ body: JSON) async -> String? { await refusal { try await bench.call(.post, "/api/v1/schedules", body) }?.code }
        #expect(await code(["name": "x", "flow": "greet", "cron": "61 * * * *"]) == "cron.invalid")
        #expect(await code(["name": "x", "flow": "greet", "cron": "@daily", "timeZone": "Mars"]) == "time_zone.unknown")
        #expect(await code(["name": "x", "flow": "gret", "cron": "@daily"]) == "flow.not_found")
        #expect(await code(["name": "morning", "flow": "greet", "cron": "@daily"]) == "schedule.exists")
        #expect(await refusal { try await bench.call(.delete, "/api/v1/schedules/morning") }?.code == "schedule.configured")
        #expect(await refusal { try await bench.call(.delete, "/api/v1/schedules/evning") }?.code == "schedule.not_found")
    }
}

extension Int {
    fileprivate var signed: Int64 { Int64(self) }
}
