import PushCore

/// What a flow, and a schedule of one, can be told in the file of settings. The file is read by this table, and the reference written.
struct FlowKey: Sendable {
    let name: String
    /// What it takes.
    let form: String
    /// Empty for one that must be there.
    let standard: String
    let explanation: String

    private init(_ name: String, _ form: String, _ standard: String, _ explanation: String) {
        (self.name, self.form, self.standard, self.explanation) = (name, form, standard, explanation)
    }

    private static func one(of words: [String]) -> String { words.joined(separator: ", ") }

    static let ofFlow: [FlowKey] = [
        FlowKey("name", "letters, digits, - and _, at most 60", "", "By which it is started and shown."),
        FlowKey("script", "a path", "", "From the folder that the server is started in."),
        FlowKey("hub", "a name", "the server's own", "The hub that it works with; for events the one where something happened."),
        FlowKey("http", one(of: FlowAccess.words), "nobody", "Who may start it with POST /flows/NAME."),
        FlowKey("schedule", "a text in the language of cron, or a list of schedules", "none", "When the clock starts it."),
        FlowKey("time_zone", "an IANA name", "UTC", "Of its schedules."),
        FlowKey(
            "missed", one(of: MissedPolicy.allCases.map(\.rawValue)), MissedPolicy.skip.rawValue,
            "What becomes of moments that no server could hear."),
        FlowKey("events", "a list of \(one(of: HubEvent.Kind.allCases.map(\.rawValue)))", "none", "What starts it in a hub."),
        FlowKey("backend", "notifications", "none", "Whether it answers POST /api/notifications of the app backend."),
        FlowKey("args", "a mapping", "none", "What it is given, whoever starts it; a request may say otherwise."),
        FlowKey("concurrency", "1 to 100", "1", "Runs of it at a time."),
        FlowKey(
            "overlap", one(of: OverlapPolicy.allCases.map(\.rawValue)), "by what starts it",
            "What becomes of a trigger while there are so many."),
        FlowKey(
            "guarantee", one(of: RunGuarantee.allCases.map(\.rawValue)), RunGuarantee.atMostOnce.rawValue,
            "What a crash of the server may do to a run."),
        FlowKey("timeout", "a duration", "none", "How long a run may take."),
        FlowKey("ceiling", "a number of devices", "any", "How many a send of it may reach without somebody's leave."),
        FlowKey("enabled", "true, false", "true", "Whether it is there at all."),
    ]

    static let ofSchedule: [FlowKey] = [
        FlowKey("name", "as that of a flow", "FLOW, or FLOW-1, FLOW-2, …", "By which it is shown and paused."),
        FlowKey(
            "cron", "a text in the language of cron", "", "Minute, hour, day of the month, month, day of the week; or @daily and the like."),
        FlowKey("time_zone", "an IANA name", "the flow's", "In which that is meant."),
        FlowKey("missed", one(of: MissedPolicy.allCases.map(\.rawValue)), "the flow's", "As for the flow."),
        FlowKey("args", "a mapping", "none", "What the flow is given beside its own; nothing secret."),
    ]
}
