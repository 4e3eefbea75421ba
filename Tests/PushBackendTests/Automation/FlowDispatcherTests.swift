import PushBackend
import PushModel
import Storage
import Support
import Testing

@Suite struct FlowDispatcherTests {
    @Test func `A run is stored with its arguments, steps, log and result`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "greet", script: "greet.lua", arguments: ["text": "Hi", "to": "nobody"])])
        let run = try await bench.ended(try await bench.start("greet", ["to": "Sports"]))
        #expect(run.id == "r-1" && run.state == .completed && run.lifecycle.attempts == 1)
        #expect(run.arguments == ["text": "Hi", "to": "Sports"])
        #expect(run.version == "abc123" && run.trigger == .http(by: "key:ops"))
        #expect(run.report.steps.map(\.name) == ["send"] && run.report.log.map(\.text) == ["hello"])
        #expect(run.report.notifications == ["n-r-1"])
        #expect(run.report.result == ["text": "Hi", "to": "Sports"])
        #expect(try await bench.flows.run("r-1") == run)
    }

    @Test func `A failed flow stores its error with the location`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "greet", script: "greet.lua")])
        let failure = RunReport.Failure(code: "tag_expression.invalid", message: "no", hint: "yes", location: "greet.lua:7")
        bench.executor.fail("greet", failure)
        let run = try await bench.ended(try await bench.start("greet"))
        #expect(run.state == .failed && run.report.failure == failure)
        #expect(bench.log.contains { $0.hasPrefix("greet: failed: no") })
    }

    @Test func `A flow that cannot be started is rejected before anything is stored`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "greet", script: "greet.lua")])
        let unknown = await refusal { try await bench.start("gret") }
        #expect(unknown?.code == "flow.not_found" && unknown?.message.contains("did you mean \"greet\"?") == true)
        #expect(await refusal { try await bench.start("greet", ["bad": 1]) }?.code == "args.invalid")
        #expect(try await bench.runs().isEmpty && bench.executor.starts.isEmpty)
        for id in ["r-1", "1", "r-01", "r-", "nonsense"] {
            #expect(await refusal { try await bench.flows.run(id) }?.code == "run.not_found", "\(id)")
        }
    }

    @Test func `The same key starts one run, and a different request with it is rejected`() async throws {
        let bench = try await AutomationBench([
            ServedFlow(name: "greet", script: "greet.lua"), ServedFlow(name: "other", script: "other.lua"),
        ])
        let first = try await bench.ended(try await bench.start("greet", ["to": "a"], key: "k"))
        let again = try await bench.flows.start(
            RunRequest(flow: "greet", arguments: ["to": "a"], trigger: .http(by: "key:ops"), key: "k"))
        #expect(again.isRepeated && again.run.id == first.id && again.run.state == .completed)
        #expect(await refusal { try await bench.start("greet", ["to": "b"], key: "k") }?.code == "run.key")
        _ = try await bench.ended(try await bench.start("other", ["to": "b"], key: "k"))
        #expect(bench.executor.starts.map(\.flow) == ["greet", "other"])
    }

    // MARK: - Several at a time

    @Test func `Runs of a flow wait in first-in, first-out order, and flows do not wait for each other`() async throws {
        let bench = try await AutomationBench([
            ServedFlow(name: "slow", script: "slow.lua"), ServedFlow(name: "wide", script: "wide.lua", policy: RunPolicy(concurrency: 3)),
        ])
        bench.executor.hold("slow")
        bench.executor.hold("wide")
        for number in 1...3 { _ = try await bench.start("slow", ["n": .integer(Int64(number))]) }
        for _ in 1...4 { _ = try await bench.start("wide") }
        try await until { bench.executor.starts.count == 4 }
        #expect(bench.executor.starts(of: "slow") == 1 && bench.executor.starts(of: "wide") == 3)
        #expect(try await bench.runs(RunFilter(state: .queued)).count == 3)
        bench.executor.letGo("slow")
        bench.executor.letGo("wide")
        try await bench.settle()
        #expect(bench.executor.starts.filter { $0.flow == "slow" }.map(\.arguments) == [["n": 1], ["n": 2], ["n": 3]])
    }

    @Test func `The server runs at most its limit of runs at once`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua", policy: RunPolicy(concurrency: 9))], limit: 2)
        bench.executor.hold("a")
        for _ in 1...5 { _ = try await bench.start("a") }
        try await until { bench.executor.starts.count == 2 }
        #expect(try await bench.runs(RunFilter(state: .queued)).count == 3)
        await bench.flows.change(limit: 4)
        try await until { bench.executor.starts.count == 4 }
        bench.executor.letGo("a")
        try await bench.settle()
        #expect(bench.executor.ends.count == 5)
    }

    @Test func `With overlap skip, a trigger during a run is skipped, and that is recorded`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua", policy: RunPolicy(overlap: .skip))])
        bench.executor.hold("a")
        let first = try await bench.start("a")
        let error = await refusal { try await bench.start("a") }
        #expect(error?.code == "run.overlap" && error?.status == 409 && error?.details["run"] == "r-2")
        bench.executor.letGo("a")
        _ = try await bench.ended(first)
        let runs = try await bench.runs()
        #expect(runs.map(\.state) == [.completed, .skipped])
        #expect(try await bench.flows.run("r-2").report.failure?.code == "run.overlap")
        _ = try await bench.ended(try await bench.start("a"))
    }

    @Test func `With overlap replace, a new run cancels the current one and those that wait`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua", policy: RunPolicy(overlap: .replace))])
        bench.executor.hold("a")
        _ = try await bench.start("a")
        try await until { bench.executor.starts.count == 1 }
        _ = try await bench.start("a")
        let third = try await bench.start("a")
        bench.executor.letGo("a")
        _ = try await bench.ended(third)
        try await bench.settle()
        #expect(try await bench.runs().map(\.state) == [.cancelled, .cancelled, .completed])
        #expect(try await bench.flows.run("r-1").report.failure?.message.contains("r-2") == true)
    }

    // MARK: - Ending and repeating

    @Test func `A run can be cancelled while it waits or runs, but not after its end`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua")])
        bench.executor.hold("a")
        let (first, second) = (try await bench.start("a"), try await bench.start("a"))
        try await until { bench.executor.starts.count == 1 }
        #expect(try await bench.flows.cancel(second.id, by: "owner").state == .cancelled)
        let ended = try await bench.flows.cancel(first.id, by: "key:ops")
        #expect(ended.state == .cancelled && ended.report.failure?.message == "it was cancelled by key:ops")
        #expect(await refusal { try await bench.flows.cancel(first.id, by: "owner") }?.code == "run.ended")
        #expect(await refusal { try await bench.flows.cancel("r-77", by: "owner") }?.code == "run.not_found")
        #expect(bench.executor.starts.count == 1 && bench.executor.ends.isEmpty)
    }

    @Test func `A finished run can be run again with its arguments, but not before its end`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua")])
        bench.executor.hold("a")
        let first = try await bench.start("a", ["to": "x"])
        #expect(await refusal { try await bench.flows.rerun(first.id, by: "owner") }?.code == "run.unfinished")
        bench.executor.letGo("a")
        _ = try await bench.ended(first)
        let again = try await bench.ended(try await bench.flows.rerun(first.id, by: "owner"))
        #expect(again.arguments == ["to": "x"] && again.trigger == .rerun(of: "r-1", by: "owner"))
        #expect(bench.executor.starts.count == 2)
    }

    @Test func `Secret arguments are never stored, and a run with them cannot be run again`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua")])
        bench.executor.setSecrets(["pin"], of: "a")
        let run = try await bench.ended(try await bench.start("a", ["pin": "UNSPEAKABLE", "to": "x"]))
        #expect(bench.executor.starts.map(\.arguments) == [["pin": "UNSPEAKABLE", "to": "x"]])
        #expect(run.arguments == ["to": "x"] && run.withheld == ["pin"])
        let error = await refusal { try await bench.flows.rerun(run.id, by: "owner") }
        #expect(error?.code == "run.secrets_lost" && error?.message.contains("pin") == true)
    }

    @Test func `Secret arguments from the settings are stored with no run and never shown`() async throws {
        var flow = ServedFlow(name: "a", script: "a.lua", arguments: ["pin": "UNSPEAKABLE", "to": "x"])
        flow.triggers.schedules = [ScheduleRule(name: "hourly", flow: "a", cron: try CronSchedule("0 * * * *"))]
        let executor = ScriptedFlows()
        executor.setSecrets(["pin"], of: "a")
        let bench = try await AutomationBench([flow], executor: executor)
        #expect(await bench.flows.maskedArguments(of: flow) == ["pin": "***", "to": "x"])
        try await until { bench.clock.hasSleepingTasks }
        bench.advance(by: .seconds(3600))
        try await until { executor.ends.count == 1 }
        try await bench.settle()
        #expect(executor.starts.map(\.arguments) == [["pin": "UNSPEAKABLE", "to": "x"]])
        let kept = try #require(try await bench.runs().first)
        #expect(kept.arguments == ["to": "x"] && kept.withheld.isEmpty)

        // Arguments of an added schedule are stored with it, so secrets are rejected.
        let rule = ScheduleRule(name: "own", flow: "a", cron: try CronSchedule("0 * * * *"), arguments: ["pin": "UNSPEAKABLE"])
        let error = await refusal { try await bench.flows.add(rule) }
        #expect(error?.code == "schedule.secret" && error?.message.contains("UNSPEAKABLE") == false)
        flow.triggers.schedules = [rule]
        try await bench.flows.configure([flow])
        #expect(await bench.flows.sortedSchedules.isEmpty)
        #expect(
            bench.log.last == "a: pin of a is secret, but the arguments of the schedule own are stored on disk; the schedule is ignored; "
                + "read it in the script with push.secret, or set it in the flow's settings")
    }

    @Test func `A rerun of a run started by an event uses only the arguments that its script accepts now`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua")])
        let trigger = RunTrigger.event(.registrationCreated, hub: "hub")
        // An earlier version of its script accepted this argument.
        var draft = try #require(
            try await bench.store.add(
                [
                    RunRecord(
                        flow: "a", script: "a.lua", origin: RunOrigin(trigger, key: nil, arguments: ["bad": 1, "id": "x"]),
                        guarantee: .atLeastOnce, lifecycle: RunLifecycle(queuedAt: HubBench.startTime))
                ],
                RunCause()
            ).first
        ).run
        draft.lifecycle.end(.failed, at: HubBench.startTime)
        try await bench.store.update(draft)
        let again = try await bench.ended(try await bench.flows.rerun(draft.id, by: "owner"))
        #expect(again.state == .completed && again.arguments == ["id": "x"])
    }

    @Test func `A server that is shutting down starts nothing new, and callers that wait get an answer`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua")])
        bench.executor.hold("a")
        let run = try await bench.start("a")
        let waiting = Task { await bench.flows.finished(run.number) }
        try await until { bench.executor.starts.count == 1 }
        await bench.flows.stopAccepting()
        #expect(await refusal { try await bench.start("a") }?.code == "hub.stopped")
        #expect(try await bench.flows.run(run.id).state == .running)
        await bench.flows.stop()
        await waiting.value
        #expect(try await bench.store.run(run.number)?.state == .interrupted)
    }

    @Test func `A long log keeps its beginning and its end`() {
        var report = RunReport()
        func line(_ text: String) -> RunReport.Line { RunReport.Line(time: HubBench.startTime, level: "info", text: text) }
        for number in 0..<1000 { report.add(line("\(number) " + String(repeating: "x", count: 995 - "\(number)".count))) }
        report.add(line(String(repeating: "y", count: 200_000)))
        let shown = report.log.map { Int($0.text.prefix { $0 != " " }) ?? -1 }
        #expect(shown.count == 263 && report.omitted == 738)
        #expect(shown.prefix(131) == ArraySlice(0..<131) && shown.suffix(132) == ArraySlice(868..<1000))
    }

    @Test func `Waiting for a run ends with the run or after the timeout`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua")])
        bench.executor.hold("a")
        let run = try await bench.start("a")
        let short = Task { await bench.flows.finished(run.number, within: .seconds(5)) }
        let long = Task { await bench.flows.finished(run.number) }
        try await until { bench.clock.hasSleepingTasks }
        bench.advance(by: .seconds(5))
        await short.value
        #expect(try await bench.flows.run(run.id).state == .running)
        bench.executor.letGo("a")
        await long.value
        #expect(try await bench.flows.run(run.id).state == .completed)
    }

    // MARK: - Shutdown

    @Test func `On shutdown, at-least-once runs are queued again and the others are interrupted`() async throws {
        let flows = [
            ServedFlow(name: "again", script: "a.lua", policy: RunPolicy(guarantee: .atLeastOnce)),
            ServedFlow(name: "once", script: "b.lua"),
        ]
        let bench = try await AutomationBench(flows)
        for flow in flows {
            bench.executor.hold(flow.name)
            _ = try await bench.start(flow.name)
            _ = try await bench.start(flow.name)
        }
        try await until { bench.executor.starts.count == 2 }
        await bench.flows.stop()
        #expect(await refusal { try await bench.start("again") }?.code == "hub.stopped")
        #expect(try await bench.runs().map(\.state) == [.queued, .queued, .interrupted, .queued])
        let next = try await AutomationBench(flows, store: bench.store)
        try await next.settle()
        #expect(try await next.runs().map(\.state) == [.completed, .completed, .interrupted, .completed])
        #expect(next.executor.starts.count == 3)
    }

    @Test func `A run that was in progress at every shutdown is not retried forever`() async throws {
        let (store, flow) = (MemoryRunStore(), ServedFlow(name: "a", script: "a.lua", policy: RunPolicy(guarantee: .atLeastOnce)))
        for attempt in 1...5 {
            let bench = try await AutomationBench([flow], store: store, isBegun: false)
            bench.executor.hold("a")
            try await bench.flows.begin([flow])
            if attempt == 1 { _ = try await bench.start("a") }
            // Nothing stops it, as if the process had crashed.
            try await until { bench.executor.starts.map(\.attempt) == [attempt] }
        }
        let last = try await AutomationBench([flow], store: store)
        let run = try await last.flows.run("r-1")
        #expect(run.state == .failed && run.report.failure?.code == "run.attempts")
        #expect(last.executor.starts.isEmpty)
    }

    @Test func `After a restore no run of the backup starts by itself, and numbers continue from the backup`() async throws {
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua")])
        bench.executor.hold("a")
        _ = try await bench.start("a")
        try await until { bench.executor.starts.count == 1 }
        await bench.flows.stop()
        let other = MemoryRunStore()
        try await bench.flows.resume(with: other)
        bench.executor.letGo("a")
        let run = try await bench.start("a")
        await bench.flows.finished(run.number)
        try await until { await other.run(1)?.state == .completed }
        #expect(await other.runs(RunFilter(), before: nil, limit: 9).count == 1)
    }
}
