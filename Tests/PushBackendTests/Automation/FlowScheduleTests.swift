import PushBackend
import PushModel
import Storage
import Support
import Testing

@Suite struct FlowScheduleTests {
    private static func flow(
        _ cron: String = "0 * * * *", missed: MissedPolicy = .skip, overlap: OverlapPolicy? = nil, arguments: JSONObject = JSONObject()
    ) throws -> ServedFlow {
        ServedFlow(
            name: "a", script: "a.lua",
            triggers: FlowTriggers(schedules: [
                ScheduleRule(name: "hourly", flow: "a", cron: try CronSchedule(cron), missed: missed, arguments: arguments)
            ]), policy: RunPolicy(overlap: overlap))
    }

    private func dueTimes(_ bench: AutomationBench) async throws -> [String] {
        try await bench.runs().map { run in
            guard case .schedule(_, let dueTime) = run.trigger else { return "?" }
            return String(dueTime.iso8601(fraction: false).dropFirst(11).prefix(5)) + (run.state == .skipped ? " skipped" : "")
        }
    }

    @Test func `A schedule starts its flow at each due time, with its arguments`() async throws {
        let bench = try await AutomationBench([try Self.flow(arguments: ["text": "Good hour"])])
        for hour in 1...3 {
            try await until { bench.clock.hasSleepingTasks }
            bench.advance(by: .seconds(3600))
            try await until { bench.executor.ends.count == hour }
        }
        try await bench.settle()
        #expect(try await dueTimes(bench) == ["10:00", "11:00", "12:00"])
        #expect(bench.executor.starts.allSatisfy { $0.arguments == ["text": "Good hour"] })
    }

    @Test func `The next due times are reported, also for a paused schedule`() async throws {
        let bench = try await AutomationBench([try Self.flow("30 9 * * MON-FRI")])
        _ = try await bench.flows.pause("hourly", true)
        let rule = try await bench.flows.schedule("hourly").rule
        let next = try await bench.flows.dueTimes(of: rule, count: 5).map { $0.iso8601(fraction: false) }
        #expect(next == ["05", "06", "07", "08", "09"].map { "2026-01-\($0)T09:30:00Z" })
    }

    @Test func `A due time during the previous run is skipped, unless the flow queues runs`() async throws {
        for (overlap, expected) in [(nil, ["10:00", "11:00 skipped"]), (OverlapPolicy.queue, ["10:00", "11:00"])] {
            let bench = try await AutomationBench([try Self.flow(overlap: overlap)])
            bench.executor.hold("a")
            for number in 1...2 {
                try await until { bench.clock.hasSleepingTasks }
                bench.advance(by: .seconds(3600))
                try await until { try await bench.runs().count == number }
            }
            bench.executor.letGo("a")
            try await bench.settle()
            #expect(try await dueTimes(bench) == expected)
        }
    }

    // MARK: - Missed due times

    @Test(arguments: [
        (MissedPolicy.skip, []), (.once, ["12:00"]), (.all, ["10:00", "11:00", "12:00"]),
    ])
    func `Due times missed while no server ran follow the schedule's policy`(policy: MissedPolicy, expected: [String]) async throws {
        let store = MemoryRunStore()
        let first = try await AutomationBench([try Self.flow(missed: policy)], store: store)
        await first.flows.stop()
        // The server starts 3.5 hours after 09:00.
        let bench = try await AutomationBench([try Self.flow(missed: policy)], store: store, now: HubBench.startTime + .seconds(12_600))
        try await bench.settle()
        #expect(try await dueTimes(bench) == expected)
        // The next start does not handle them again.
        await bench.flows.stop()
        let next = try await AutomationBench([try Self.flow(missed: policy)], store: store, now: HubBench.startTime + .seconds(12_700))
        try await next.settle()
        #expect(try await dueTimes(next) == expected && next.executor.starts.isEmpty)
    }

    @Test func `A server that is slightly late has missed nothing`() async throws {
        let store = MemoryRunStore()
        let first = try await AutomationBench([try Self.flow()], store: store)
        await first.flows.stop()
        let bench = try await AutomationBench([try Self.flow()], store: store, now: HubBench.startTime + .seconds(3659))
        try await bench.settle()
        #expect(try await dueTimes(bench) == ["10:00"])
    }

    @Test func `After years without a server the last due time is found, and at most a thousand are made up`() async throws {
        let later = HubBench.startTime + .seconds(3 * 366 * 86_400)
        for (policy, count) in [(MissedPolicy.once, 1), (.all, 1000)] {
            let store = MemoryRunStore()
            let first = try await AutomationBench([try Self.flow("*/5 * * * *", missed: policy)], store: store)
            await first.flows.stop()
            let bench = try await AutomationBench([try Self.flow("*/5 * * * *", missed: policy)], store: store, now: later + .seconds(120))
            try await bench.settle()
            let runs = try await bench.runs()
            #expect(runs.count == count)
            if policy == .once { #expect(runs.first?.trigger == .schedule(name: "hourly", dueTime: later)) }
            if policy == .all { #expect(bench.log.contains { $0.contains("missed more than 1000") }) }
        }
    }

    @Test func `A changed schedule starts with future due times`() async throws {
        let store = MemoryRunStore()
        let first = try await AutomationBench([try Self.flow(missed: .all)], store: store)
        await first.flows.stop()
        let bench = try await AutomationBench(
            [try Self.flow("30 * * * *", missed: .all)], store: store, now: HubBench.startTime + .seconds(12_600))
        try await bench.settle()
        #expect(try await bench.runs().isEmpty)
    }

    // MARK: - The list

    @Test func `Schedules can be added, paused, resumed and removed, and that survives a restart`() async throws {
        let store = MemoryRunStore()
        let flow = ServedFlow(name: "a", script: "a.lua", policy: RunPolicy(concurrency: 9))
        let bench = try await AutomationBench([flow], store: store)
        let cron = try CronSchedule("0 * * * *")
        for name in ["one", "two", "three"] {
            _ = try await bench.flows.add(ScheduleRule(name: name, flow: "a", cron: cron, missed: .all, arguments: ["n": .string(name)]))
        }
        _ = try await bench.flows.pause("two", true)
        try await bench.flows.remove(schedule: "three")
        await bench.flows.stop()
        let next = try await AutomationBench([flow], store: store, now: HubBench.startTime + .seconds(3600))
        try await next.settle()
        #expect(await next.flows.sortedSchedules.map(\.rule.name) == ["one", "two"])
        #expect(next.executor.starts.map(\.arguments) == [["n": "one"]])
        // Due times during a pause are skipped, even with a policy that makes up for missed ones.
        _ = try await next.flows.pause("two", false)
        try await until { next.clock.hasSleepingTasks }
        next.advance(by: .seconds(3600))
        try await until { next.executor.ends.count == 3 }
        #expect(next.executor.starts.map { $0.arguments["n"] }.filter { $0 == "two" }.count == 1)
    }

    @Test func `An invalid schedule is rejected and not stored`() async throws {
        let bench = try await AutomationBench([try Self.flow()])
        let cron = try CronSchedule("0 * * * *")
        func code(_ rule: ScheduleRule) async -> String? { await refusal { try await bench.flows.add(rule) }?.code }
        #expect(await code(ScheduleRule(name: "b", flow: "b", cron: cron)) == "flow.not_found")
        #expect(await code(ScheduleRule(name: "b", flow: "a", cron: cron, timeZone: "UCT")) == "time_zone.unknown")
        #expect(await code(ScheduleRule(name: "b", flow: "a", cron: cron, arguments: ["bad": 1])) == "args.invalid")
        #expect(await code(ScheduleRule(name: "b c", flow: "a", cron: cron)) == "schedule.name")
        #expect(await code(ScheduleRule(name: "hourly", flow: "a", cron: cron)) == "schedule.exists")
        #expect(await refusal { try await bench.flows.remove(schedule: "hourly") }?.code == "schedule.configured")
        let unknown = await refusal { try await bench.flows.pause("horly", true) }
        #expect(unknown?.code == "schedule.not_found" && unknown?.message.contains("did you mean \"hourly\"?") == true)
        #expect(await bench.flows.sortedSchedules.map(\.rule.name) == ["hourly"])
    }

    @Test func `A schedule removed from the settings is deleted, and one that was added remains`() async throws {
        let bench = try await AutomationBench([try Self.flow()])
        _ = try await bench.flows.add(ScheduleRule(name: "mine", flow: "a", cron: try CronSchedule("@daily")))
        try await bench.flows.configure([ServedFlow(name: "a", script: "a.lua")])
        #expect(await bench.flows.sortedSchedules.map(\.rule.name) == ["mine"])
        #expect(try await bench.store.schedules(startingFrom: bench.clock.now).map(\.rule.name) == ["mine"])
    }
}
