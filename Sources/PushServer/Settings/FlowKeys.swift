import PushModel

/// A key of a flow or a schedule in the settings file. Parsing and the settings reference both use this table.
struct FlowKey: Sendable {
    let name: String
    /// The values that are accepted, in words.
    let form: String
    /// The default, in words; empty if the key is required.
    let standard: String
    let explanation: String

    private init(_ name: String, _ form: String, _ standard: String, _ explanation: String) {
        (self.name, self.form, self.standard, self.explanation) = (name, form, standard, explanation)
    }

    private static func one(of words: [String]) -> String { words.joined(separator: ", ") }

    static let ofFlow: [FlowKey] = [
        FlowKey("name", "letters, digits, - and _, at most 60", "", "Name of the flow."),
        FlowKey("script", "a path", "", "Path of the script, relative to the working directory of the server."),
        FlowKey("hub", "a name", "the server's own", "Hub that the flow uses; for events, the default is the hub of the event."),
        FlowKey("http", one(of: FlowAccess.words), "disabled", "Rights that are required to start the flow with POST /flows/NAME."),
        FlowKey("schedule", "a cron expression, or a list of schedules", "none", "When the flow is started."),
        FlowKey("time_zone", "an IANA name", "UTC", "Time zone of the schedules."),
        FlowKey(
            "missed", one(of: MissedPolicy.allCases.map(\.rawValue)), MissedPolicy.skip.rawValue,
            "What to do about runs missed while the server was down."),
        FlowKey("events", "a list of \(one(of: HubEvent.Kind.allCases.map(\.rawValue)))", "none", "Events of a hub that start the flow."),
        FlowKey("backend", "notifications", "none", "Requests to the app backend that the flow answers: POST /api/notifications."),
        FlowKey("args", "a mapping", "none", "Default arguments; a request may override them."),
        FlowKey("concurrency", "1 to 100", "1", "Maximum number of concurrent runs."),
        FlowKey(
            "overlap", one(of: OverlapPolicy.allCases.map(\.rawValue)), "by trigger",
            "What to do with a trigger while the maximum number of runs is active."),
        FlowKey(
            "guarantee", one(of: RunGuarantee.allCases.map(\.rawValue)), RunGuarantee.atMostOnce.rawValue,
            "Whether a run is repeated after the server crashed."),
        FlowKey("timeout", "a duration", "none", "Time limit of a run."),
        FlowKey(
            "cpu_limit", "a duration", "10s", "Maximum CPU time of a run, in its script and in what the server does for it."),
        FlowKey("ceiling", "a number of devices", "none", "Maximum number of devices per send without approval."),
        FlowKey("enabled", "true, false", "true", "Whether the flow is active."),
    ]

    static let ofSchedule: [FlowKey] = [
        FlowKey("name", "as for a flow", "FLOW, or FLOW-1, FLOW-2, …", "Name of the schedule."),
        FlowKey(
            "cron", "a cron expression", "", "Minute, hour, day of the month, month, day of the week; or @daily and similar names."),
        FlowKey("time_zone", "an IANA name", "the flow's", "Time zone of the cron expression."),
        FlowKey("missed", one(of: MissedPolicy.allCases.map(\.rawValue)), "the flow's", "What to do about missed runs."),
        FlowKey("args", "a mapping", "none", "Arguments in addition to the flow's own; not for secrets."),
    ]
}
