import PushModel
import Storage
import Support
import Testing

@Suite struct RunStoreTests {
    private func run(
        _ flow: String = "greet", key: String? = nil, state: RunRecord.State = .queued, trigger: RunTrigger = .command(by: "owner"),
        ended: Int64? = nil
    ) -> RunRecord {
        RunRecord(
            flow: flow, script: "scripts/\(flow).lua", origin: RunOrigin(trigger, key: key), guarantee: .atMostOnce,
            lifecycle: RunLifecycle(state: state, queuedAt: HubBench.startTime, endedAt: ended.map { HubBench.startTime + .seconds($0) }))
    }

    /// A run with all optional properties.
    private var full: RunRecord {
        var report = RunReport()
        report.add(
            RunReport.Step(
                name: Samples.oddText, depth: 2, status: "failed", began: HubBench.startTime, ended: HubBench.startTime + .seconds(1),
                reason: Samples.oddText, notifications: ["n-1", "n-2"]))
        report.add(RunReport.Line(time: HubBench.startTime, level: "warn", text: Samples.oddText))
        report.note("n-3")
        report.omitted = 7
        report.result = ["a": [1, 2.5, .null, "x"], "b": .object(JSONObject())]
        report.failure = RunReport.Failure(code: "a.b", message: Samples.oddText, hint: "do", location: "x.lua:3")
        return RunRecord(
            flow: "greet", script: Samples.oddText, version: "abc123",
            origin: RunOrigin(
                .event(.tokenExpired, hub: Samples.oddText), key: "k",
                arguments: ["text": .string(Samples.oddText), "n": 3, "deep": [["x": true]]], withheld: ["pin"],
                causes: ["flow:a", "greet"]), guarantee: .atLeastOnce,
            lifecycle: RunLifecycle(
                state: .failed, attempts: 4, queuedAt: HubBench.startTime, startedAt: HubBench.startTime + .seconds(1),
                endedAt: HubBench.startTime + .seconds(2)), report: report)
    }

    @Test(arguments: Engine.allCases)
    func `A run is returned unchanged, also after an update`(engine: Engine) async throws {
        try await engine.run { storage in
            let runs = storage.runs
            let added = try await runs.add([full, run()], RunCause())
            #expect(added.map(\.run.number) == [1, 2] && added.allSatisfy { !$0.isRepeated })
            var expected = full
            expected.number = 1
            #expect(try await runs.run(1) == expected)
            var second = added[1].run
            second.lifecycle.start(at: HubBench.startTime)
            second.report = expected.report
            try await runs.update(second)
            #expect(try await runs.run(2) == second)
            #expect(try await runs.run(3) == nil)
            // An update of a deleted run is ignored.
            second.number = 9
            try await runs.update(second)
            #expect(try await runs.run(9) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Every kind of trigger is returned unchanged`(engine: Engine) async throws {
        try await engine.run { storage in
            let triggers: [RunTrigger] = [
                .http(by: "key:ops"), .backend(user: "alice"), .schedule(name: "morning", dueTime: HubBench.startTime),
                .event(.registrationCreated, hub: "hub"), .command(by: "owner"), .rerun(of: "r-1", by: "key:x"),
            ]
            #expect(Set(triggers.map(\.kind)) == Set(RunTrigger.Kind.allCases))
            let added = try await storage.runs.add(triggers.map { run(trigger: $0) }, RunCause())
            for one in added { #expect(try await storage.runs.run(one.run.number)?.trigger == one.run.trigger) }
        }
    }

    @Test(arguments: Engine.allCases)
    func `A flow has one run for each key`(engine: Engine) async throws {
        try await engine.run { storage in
            let runs = storage.runs
            let added = try await runs.add([run(key: "k"), run(key: "k"), run("other", key: "k"), run(), run()], RunCause())
            #expect(added.map(\.isRepeated) == [false, true, false, false, false])
            #expect(added[1].run == added[0].run)
            #expect(try await runs.runs(RunFilter(), before: nil, limit: 9).count == 4)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Runs are found by flow, state and trigger, newest first, page by page, without their reports`(engine: Engine) async throws {
        try await engine.run { storage in
            let runs = storage.runs
            _ = try await runs.add([full], RunCause())
            for number in 2...9 {
                _ = try await runs.add(
                    [run(number.isMultiple(of: 2) ? "even" : "odd", state: number < 5 ? .completed : .queued, ended: number < 5 ? 1 : nil)],
                    RunCause())
            }
            func numbers(_ filter: RunFilter, before: Int64? = nil, limit: Int = 20) async throws -> [Int64] {
                try await runs.runs(filter, before: before, limit: limit).map(\.number)
            }
            #expect(try await numbers(RunFilter()) == [9, 8, 7, 6, 5, 4, 3, 2, 1])
            #expect(try await numbers(RunFilter(), before: 5, limit: 2) == [4, 3])
            #expect(try await numbers(RunFilter(flow: "even", state: .completed)) == [4, 2])
            #expect(try await numbers(RunFilter(trigger: .event)) == [1])
            #expect(try await runs.runs(RunFilter(), before: 2, limit: 1).first?.report == RunReport())
            #expect(try await runs.unfinishedRuns().map(\.number) == [5, 6, 7, 8, 9])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Runs that ended long ago are deleted, oldest first, and their numbers are not used again`(engine: Engine) async throws {
        try await engine.run { storage in
            let runs = storage.runs
            _ = try await runs.add(
                [run(state: .completed, ended: 1), run(), run(state: .failed, ended: 5), run(state: .completed, ended: 2)], RunCause())
            let time = HubBench.startTime + .seconds(5)
            #expect(try await runs.removeRuns(endedBefore: time, limit: 1) == 1)
            #expect(try await runs.run(1) == nil)
            #expect(try await runs.removeRuns(endedBefore: time, limit: 9) == 1)
            #expect(try await runs.removeRuns(endedBefore: time + .seconds(1), limit: 9) == 1)
            #expect(try await runs.runs(RunFilter(), before: nil, limit: 9).map(\.number) == [2])
            #expect(try await runs.add([run()], RunCause()).first?.run.number == 5)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Schedules are stored by name, and their last due time together with the runs it starts`(engine: Engine) async throws {
        try await engine.run { storage in
            let runs = storage.runs
            let rule = ScheduleRule(
                name: "morning", flow: "greet", cron: try CronSchedule("30 9 * * MON-FRI"), timeZone: "Europe/Lisbon", missed: .all,
                arguments: ["text": .string(Samples.oddText)])
            let kept = StoredSchedule(rule: rule, isConfigured: true, isPaused: true, handledUntil: HubBench.startTime)
            try await runs.save(kept)
            #expect(try await runs.schedules(startingFrom: .distantFuture) == [kept])
            var changed = kept
            (changed.isPaused, changed.isConfigured) = (false, false)
            try await runs.save(changed)
            _ = try await runs.add(
                [run()], RunCause(handledUntil: ["morning": HubBench.startTime + .seconds(9), "gone": HubBench.startTime]))
            // The time never goes back.
            _ = try await runs.add([], RunCause(handledUntil: ["morning": HubBench.startTime + .seconds(3)]))
            changed.handledUntil = HubBench.startTime + .seconds(9)
            #expect(try await runs.schedules(startingFrom: .distantFuture) == [changed])
            try await runs.removeSchedule("morning")
            #expect(try await runs.schedules(startingFrom: .distantFuture).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Events are stored with their facts, and deleted together with adding the runs they start`(engine: Engine) async throws {
        try await engine.run { storage in
            let hub = storage.namespace.store(ofHub: 1)
            func event(_ id: String) -> HubEvent {
                HubEvent(
                    hub: "news", kind: .registrationCreated, time: HubBench.startTime, origin: ["flow:a"],
                    facts: ["id": .string(id), "tags": ["a", "b"]])
            }
            var change = RegistrationChange()
            change.events = [event("1"), event(Samples.oddText)]
            try await hub.commit(change)
            let kept = StoredNotification(
                sequence: 1, request: try .alert(),
                outcome: NotificationOutcome(id: "n", state: .enqueued, tags: nil, times: NotificationTimes(enqueuedAt: HubBench.startTime))
            )
            _ = try await hub.accept(kept)
            var progress = NotificationProgress(sequence: 1, outcome: kept.outcome, devices: [])
            progress.events = [event("3")]
            try await hub.record(progress)
            let found = try await storage.runs.events(limit: 9)
            #expect(found.map(\.number) == [1, 2, 3] && found.map { $0.facts["id"] } == ["1", .string(Samples.oddText), "3"])
            var first = event("1")
            first.number = 1
            #expect(found.first == first)
            #expect(try await storage.runs.events(limit: 2).count == 2)
            _ = try await storage.runs.add([run()], RunCause(events: 2))
            #expect(try await storage.runs.events(limit: 9).map(\.number) == [3])
            _ = try await storage.runs.add([], RunCause(events: 3))
            change.events = [event("4")]
            try await hub.commit(change)
            #expect(try await storage.runs.events(limit: 9).map(\.number) == [4])
        }
    }
}

/// Tests that need a database file.
@Suite struct SQLiteRunStoreTests {
    @Test func `A restored backup starts no run by itself`() async throws {
        let bench = try await Bench()
        let runs = bench.storage.runs
        let open = RunRecord(
            flow: "a", script: "a.lua", origin: RunOrigin(.command(by: "owner")), guarantee: .atLeastOnce,
            lifecycle: RunLifecycle(state: .running, queuedAt: HubBench.startTime))
        _ = try await runs.add([open], RunCause())
        try await runs.save(
            StoredSchedule(
                rule: ScheduleRule(name: "s", flow: "a", cron: try CronSchedule("@daily"), missed: .all), isConfigured: false,
                handledUntil: HubBench.startTime))
        var change = RegistrationChange()
        change.events = [HubEvent(hub: "h", kind: .tokenExpired, time: HubBench.startTime, facts: [:])]
        try await bench.store.commit(change)
        let file = bench.folder.file("backup-1.sqlite")
        try await bench.storage.backup(to: file)
        try await bench.storage.restore(from: file)
        let other = bench.storage.runs
        #expect(try await other.unfinishedRuns().isEmpty)
        #expect(try await other.run(1)?.state == .interrupted)
        #expect(try await other.events(limit: 9).isEmpty)
        let now = HubBench.startTime + .seconds(99)
        #expect(try await other.schedules(startingFrom: now).map(\.handledUntil) == [now])
        // A store from before the restore cannot change the restored data.
        #expect(await refusal { try await runs.add([open], RunCause()) }?.code == "storage.unavailable")
    }

    @Test func `The error for an unreadable row names the row`() async throws {
        let bench = try await Bench()
        _ = try await bench.storage.runs.add(
            [
                RunRecord(
                    flow: "a", script: "a.lua", origin: RunOrigin(.command(by: "x")), guarantee: .atMostOnce,
                    lifecycle: RunLifecycle(queuedAt: HubBench.startTime))
            ], RunCause()
        )
        for (column, value) in [("state", "'asleep'"), ("content", "'{}'"), ("content", "'nothing'"), ("report", "'[1]'")] {
            try await bench.execute("UPDATE run SET \(column) = \(value)")
            let error = await refusal { try await bench.storage.runs.run(1) }
            #expect(error?.code == "storage.corrupt" && error?.message.contains("r-1") == true, "\(column)")
            try await bench.execute("DELETE FROM run")
            try await bench.execute(
                """
                INSERT INTO run (number, flow, state, is_final, trigger, queued_at, content) VALUES (1, 'a', 'queued', 0, 'command', 0,
                    '{"script":"a","trigger":{"kind":"command","by":"x"},"arguments":{},"guarantee":"at-most-once","attempts":0}')
                """)
        }
    }
}
