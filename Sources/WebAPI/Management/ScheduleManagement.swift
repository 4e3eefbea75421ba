import HTTPTypes
import HubWire
import PushBackend
import PushModel

/// Routes for cron schedules of flows.
enum ScheduleManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get("/api/v1/schedules", "listSchedules", "The schedules of the server, by name"),
            .server(.manage), answer: .ok("All schedules", .page(of: schedule))
        ) { call async throws(PushError) in
            var items: [JSON] = []
            let flows = try call.flows
            for stored in await flows.sortedSchedules { items.append(try await stored.json(flows)) }
            return call.list(items, continuation: nil)
        },
        ManagementRoute(
            .post("/api/v1/schedules", "addSchedule", "Create a cron schedule for a flow"),
            .server(.manage),
            body: .object(
                "NewSchedule",
                [
                    "name": .text("Letters, digits, - and _", length: 1...60).documented(named),
                    "flow": .text("One of the server's", length: 1...60).documented(named),
                    "cron": .text("Minute, hour, day of the month, month, day of the week", length: 1...CronSchedule.maximumLength),
                    "timeZone?": .text("IANA name; UTC by default", length: 1...100),
                    "missed?": .choice("What to do about runs missed while the server was down", MissedPolicy.allCases.map(\.rawValue)),
                    "arguments?": .map("Arguments in addition to those from the settings", of: .any("Any JSON")),
                ]),
            answer: .created("The schedule", schedule), refusals: [409],
            audit: AuditRule(.scheduleAdd) { call, _ in
                func text(_ name: String) -> String { call.body[name]?.string ?? "" }
                return (
                    text("name"), ["flow": text("flow"), "cron": text("cron"), "timeZone": text("timeZone")].filter { !$0.value.isEmpty }
                )
            }
        ) { call async throws(PushError) in
            let rule = ScheduleRule(
                name: call.body["name"]?.string ?? "", flow: call.body["flow"]?.string ?? "",
                cron: try CronSchedule(call.body["cron"]?.string ?? ""), timeZone: call.body["timeZone"]?.string ?? "UTC",
                missed: call.body["missed"]?.string.flatMap(MissedPolicy.init(rawValue:)) ?? .skip,
                arguments: call.body["arguments"]?.object ?? JSONObject())
            let flows = try call.flows
            let schedule = try await flows.add(rule)
            return call.answer(try await schedule.json(flows), .created, location: "/api/v1/schedules/\(rule.name)")
        },
        ManagementRoute(
            .get("/api/v1/schedules/{schedule}", "getSchedule", "One schedule"),
            .server(.manage), answer: .ok("The schedule", schedule)
        ) { call async throws(PushError) in
            let flows = try call.flows
            return call.answer(try await flows.schedule(call.name("schedule")).json(flows))
        },
        ManagementRoute(
            .delete("/api/v1/schedules/{schedule}", "removeSchedule", "Delete a schedule that is not in the settings file"),
            .server(.manage), answer: .deleted, refusals: [409],
            audit: AuditRule(.scheduleRemove) { call, _ in (call.name("schedule"), [:]) }
        ) { call async throws(PushError) in
            try await call.flows.remove(schedule: call.name("schedule"))
            return WebAnswer(.noContent)
        },
        ManagementRoute(
            .post("/api/v1/schedules/{schedule}/pause", "pauseSchedule", "Pause a schedule until it is resumed"),
            .server(.manage), answer: .ok("The schedule", schedule),
            audit: AuditRule(.schedulePause) { call, _ in (call.name("schedule"), [:]) }
        ) { call async throws(PushError) in try await paused(call, true) },
        ManagementRoute(
            .post("/api/v1/schedules/{schedule}/resume", "resumeSchedule", "Resume a schedule; runs due while it was paused are skipped"),
            .server(.manage), answer: .ok("The schedule", schedule),
            audit: AuditRule(.scheduleResume) { call, _ in (call.name("schedule"), [:]) }
        ) { call async throws(PushError) in try await paused(call, false) },
    ]

    private static func paused(_ call: ManagementCall, _ isPaused: Bool) async throws(PushError) -> WebAnswer {
        let flows = try call.flows
        let schedule = try await flows.pause(call.name("schedule"), isPaused)
        return call.answer(try await schedule.json(flows))
    }

    private static let named: JSONObject = ["pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$"]

    private static let schedule = JSONSchema.object(
        "Schedule",
        [
            "name": .text(), "flow": .text(), "cron": .text(), "timeZone": .text(),
            "missed": .choice("What to do about runs missed while the server was down", MissedPolicy.allCases.map(\.rawValue)),
            "arguments": .map(of: .any("Any JSON")), "isConfigured": .boolean("Whether it is in the settings file"),
            "isPaused": .boolean(), "next": .list("The next five due times, as if it were not paused", of: .timestamp()),
        ])
}

extension StoredSchedule {
    private static let shown = 5

    fileprivate func json(_ flows: FlowDispatcher) async throws(PushError) -> JSON {
        let next = try await flows.dueTimes(of: rule, count: Self.shown)
        return [
            "name": .string(rule.name), "flow": .string(rule.flow), "cron": .string(rule.cron.description),
            "timeZone": .string(rule.timeZone), "missed": .string(rule.missed.rawValue), "arguments": .object(rule.arguments),
            "isConfigured": .bool(isConfigured), "isPaused": .bool(isPaused), "next": .array(next.map { .timestamp($0) }),
        ]
    }
}
