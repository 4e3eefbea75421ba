import PushModel

/// A stored schedule. Its rule without the name is JSON.
struct ScheduleRow {
    /// The columns that `init(_:startingFrom:)` reads.
    static let columns = "name, is_configured, is_paused, heard, content"

    let schedule: StoredSchedule

    init(_ schedule: StoredSchedule) { self.schedule = schedule }

    /// - Parameter now: the time up to which due times have been processed if the row has none.
    init(_ row: some SQLRow, startingFrom now: Timestamp) throws {
        let name = row.text(0)
        schedule = try reading("the schedule \(name)") {
            let json = try row.json(4)
            let rule = ScheduleRule(
                name: name, flow: try json.required("flow").storedText(), cron: try CronSchedule(json.required("cron").storedText()),
                timeZone: try json.required("zone").storedText(), missed: try MissedPolicy(stored: json.required("missed").storedText()),
                arguments: try json.required("arguments").storedObject())
            return StoredSchedule(
                rule: rule, isConfigured: row.bool(1), isPaused: row.bool(2), handledUntil: row.isNull(3) ? now : row.time(3))
        }
    }

    var content: JSON {
        let rule = schedule.rule
        return [
            "flow": .string(rule.flow), "cron": .string(rule.cron.description), "zone": .string(rule.timeZone),
            "missed": .string(rule.missed.rawValue), "arguments": .object(rule.arguments),
        ]
    }
}
