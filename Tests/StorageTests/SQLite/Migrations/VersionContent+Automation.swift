import PushModel
import Support
import Testing

@testable import Storage

// Approvals, runs, schedules and events.
extension VersionContent {
    func expectApprovals(in storage: SQLiteStorage) async throws {
        let expected = try approvals
        let stored = try await storage.approvals.approvals(before: nil, limit: 9, state: nil)
        #expect(stored.map(\.number) == expected.map(\.number))
        for (approval, wanted) in zip(stored, expected) { #expect(approval == wanted) }
        let pending = expected.filter { $0.state == .pending }
        #expect(try await storage.approvals.approvals(before: nil, limit: 9, state: .pending) == pending)
        #expect(
            try await storage.approvals.approval(under: "ask-1", by: .key("sender", hub: "hub"), atHub: 1)?.number == pending.first?.number)
    }

    /// The latest first.
    private var approvals: [Approval] {
        get throws {
            guard version >= .approvals else { return [] }
            let first = [try approvedApproval, sentApproval, deniedApproval, pendingApproval]
            return version >= .planSends ? [failedApproval] + first : first
        }
    }

    private func approval(
        _ number: Int64, _ state: Approval.State, by requester: Principal, note: String? = nil, dueAt: Timestamp? = nil, created: Int64,
        expires: Int64, key: String? = nil, audience: String, content: String, ceiling: Approval.Ceiling, reach: AudienceReach,
        request: NotificationRequest? = nil, decision: Approval.Decision? = nil, notificationID: String? = nil
    ) -> Approval {
        var approval = Approval(
            number: number, state: state,
            origin: Approval.Origin(
                hub: Approval.Hub(number: 1, name: "hub"), requester: requester, note: note, createdAt: Self.at(created)),
            expiresAt: Self.at(expires),
            keys: Approval.Keys(
                fingerprint: [UInt8](repeating: UInt8(number), count: 32), idempotencyKey: key, sendKey: "approval-\(number)"),
            scope: Approval.Scope(dueAt: dueAt, audience: audience, content: content, ceiling: ceiling, reach: reach), request: request,
            decision: decision)
        approval.notificationID = notificationID
        return approval
    }

    private static func decision(_ principal: Principal, _ time: Int64, _ reason: String? = nil) -> Approval.Decision {
        Approval.Decision(principal: principal, time: at(time), reason: reason)
    }

    private var pendingApproval: Approval {
        approval(
            1, .pending, by: .key("sender", hub: "hub"), note: #"outage "north""#, dueAt: Self.at(172_800), created: 130, expires: 86_400,
            key: "ask-1", audience: "everyone", content: "templates with message (12 bytes)",
            ceiling: Approval.Ceiling(devices: 1000, owner: .key("sender", hub: "hub")),
            reach: AudienceReach(platforms: [.apns: 1200, .wns: 3]),
            request: NotificationRequest(audience: .everyone, content: .template(["message": "To everybody"])))
    }

    private var deniedApproval: Approval {
        var denied = approval(
            2, .denied, by: .flow("greet"), created: 131, expires: 86_401, audience: "tags news", content: "apns (2 bytes)",
            ceiling: Approval.Ceiling(devices: 2, owner: nil),
            reach: AudienceReach(platforms: [.apns: 3], isUnknown: version >= .plans),
            decision: Self.decision(.owner, 140, "too many"))
        if version >= .plans { denied.origin.behalf = .key("ops", hub: "hub") }
        return denied
    }

    private var sentApproval: Approval {
        approval(
            4, .sent, by: .key("RootManageSharedAccessKey", hub: nil), created: 132, expires: 86_402, audience: "tags news",
            content: "templates with message (11 bytes)", ceiling: Approval.Ceiling(devices: 10, owner: nil),
            reach: AudienceReach(platforms: [.apns: 12]), decision: Self.decision(.key("ops", hub: "hub"), 141), notificationID: Self.id(5))
    }

    private var approvedApproval: Approval {
        get throws {
            var request = NotificationRequest(audience: try Self.audience("news"), content: .template(["message": "Hi"]))
            if version >= .plans { request.approvedReach = ApprovedReach(devices: 2, basis: .ceiling(of: nil)) }
            return approval(
                5, .approved, by: .plugin("weather"), created: 133, expires: 86_403, audience: "tags news",
                content: "templates with message (2 bytes)", ceiling: Approval.Ceiling(devices: 2, owner: nil),
                reach: AudienceReach(platforms: [.apns: 3]), request: request, decision: Self.decision(.owner, 142))
        }
    }

    private var failedApproval: Approval {
        var failed = approval(
            6, .failed, by: .owner, created: 134, expires: 86_404, audience: "everyone", content: "apns (2 bytes)",
            ceiling: Approval.Ceiling(devices: 2, owner: nil), reach: AudienceReach(), decision: Self.decision(.server, 143))
        failed.failure = "hub.paused: the hub is paused"
        return failed
    }

    // MARK: - Runs

    func expectRuns(in storage: SQLiteStorage) async throws {
        let expected = version >= .runs ? runs : []
        #expect(try await storage.runs.runs(RunFilter(), before: nil, limit: 9).map(\.number) == expected.reversed().map(\.number))
        for run in expected { #expect(try await storage.runs.run(run.number) == run, "\(run.id)") }
        #expect(try await storage.runs.unfinishedRuns() == expected.filter { !$0.state.isFinal })
    }

    private var runs: [RunRecord] {
        let queued = RunRecord(
            number: 2, flow: "clean", script: "scripts/clean.lua",
            origin: RunOrigin(.event(.tokenExpired, hub: "hub"), causes: ["weather"]), guarantee: .atLeastOnce,
            lifecycle: RunLifecycle(queuedAt: Self.at(154)))
        let running = RunRecord(
            number: 4, flow: "greet", script: "scripts/greet.lua", version: "7bd5f4",
            origin: RunOrigin(.schedule(name: "morning", dueTime: Self.at(155))), guarantee: .atMostOnce,
            lifecycle: RunLifecycle(state: .running, attempts: 1, queuedAt: Self.at(155), startedAt: Self.at(155)))
        var report = RunReport()
        report.failure = RunReport.Failure(
            code: "script.error", message: "attempt to call nil", hint: "check the name", location: "scripts/greet.lua:4")
        let failed = RunRecord(
            number: 5, flow: "greet", script: "scripts/greet.lua", origin: RunOrigin(.rerun(of: "r-1", by: "key:hub/sender")),
            guarantee: .atMostOnce,
            lifecycle: RunLifecycle(state: .failed, attempts: 1, queuedAt: Self.at(156), startedAt: Self.at(156), endedAt: Self.at(157)),
            report: report)
        return [Self.completedRun, afterRestore(queued), afterRestore(running), failed]
    }

    /// Runs that had not ended when a backup was made are interrupted.
    private func afterRestore(_ run: RunRecord) -> RunRecord {
        guard isRestored else { return run }
        var run = run
        run.lifecycle.end(.interrupted, at: run.lifecycle.queuedAt)
        return run
    }

    private static var completedRun: RunRecord {
        var report = RunReport()
        report.add(
            RunReport.Step(name: "greet", depth: 0, status: "passed", began: at(151), ended: at(152), notifications: [id(1)]))
        report.add(
            RunReport.Step(name: "wait", depth: 1, status: "skipped", began: at(152), ended: at(152), reason: "not today"))
        report.add(RunReport.Line(time: at(152), level: "info", text: "greeted é"))
        report.omitted = 2
        report.note(id(2))
        report.result = ["ok": true]
        return RunRecord(
            number: 1, flow: "greet", script: "scripts/greet.lua", version: "7bd5f4",
            origin: RunOrigin(.command(by: "owner"), key: "k-1", arguments: ["to": "sports", "n": [1, 2.5]], withheld: ["secret"]),
            guarantee: .atMostOnce,
            lifecycle: RunLifecycle(state: .completed, attempts: 1, queuedAt: at(150), startedAt: at(151), endedAt: at(153)), report: report
        )
    }

    // MARK: - Schedules and events

    func expectSchedules(in storage: SQLiteStorage) async throws {
        let now = Self.at(9999)
        guard version >= .runs else {
            #expect(try await storage.runs.schedules(startingFrom: now) == [])
            #expect(try await storage.runs.events(limit: 9) == [])
            return
        }
        let morning = ScheduleRule(
            name: "morning", flow: "greet", cron: try CronSchedule("30 9 * * MON-FRI"), timeZone: "Europe/Lisbon", missed: .once,
            arguments: ["to": "news"])
        let nightly = ScheduleRule(name: "nightly", flow: "clean", cron: try CronSchedule("@daily"))
        // A schedule of a backup starts again. The other one comes from a backup that was restored earlier.
        let expected = [
            StoredSchedule(rule: morning, isConfigured: true, handledUntil: isRestored ? now : Self.at(155)),
            StoredSchedule(rule: nightly, isConfigured: false, isPaused: true, handledUntil: now),
        ]
        #expect(try await storage.runs.schedules(startingFrom: now) == expected)
        #expect(try await storage.runs.events(limit: 9) == (isRestored ? [] : Self.events))
    }

    private static var events: [HubEvent] {
        [
            HubEvent(
                number: 3, hub: "hub", kind: .tokenExpired, time: at(22), origin: ["weather"],
                facts: [
                    "kind": "registration", "id": .string(Samples.id(13).text), "platform": "apns", "user": .null,
                    "reason": "Unregistered", "notification_id": .string(id(1)),
                ]),
            HubEvent(
                number: 4, hub: "hub", kind: .registrationCreated, time: at(23),
                facts: ["kind": "installation", "id": "ana-1", "tags": ["News"]]),
        ]
    }
}
