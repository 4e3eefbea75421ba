/// Words that people search for and that are in no name, with the topics about them.
enum SearchWords {
    static let topics: [String: [String]] = [
        "permission": [
            "capability.denied", "plugin.not_granted", "http.denied", "phase.not_allowed", "sas.forbidden", "backend.forbidden",
            "secrets.unreadable",
        ],
        "isolation": ["push.test.it", "push.test.plugin", "sandbox.absent", "script.outside", "script.read_only"],
        "dry run": ["push.plan", "push.rehearse", "push.target", "push.Plan"],
        "reload": ["push.test.plugin", "plugin.spec", "plugin.refused", "plugin.unkept", "settings.invalid"],
        "quiet hours": ["push.clock.zone", "push.clock.window_end", "push.clock.time_zones", "daily_window.invalid", "time_zone.unknown"],
        "retry": [
            "simulator:fail", "hub.idempotency_key", "run.attempts", "run.interrupted", "target.throttled",
            "simulator.retry_after",
        ],
        "rate limit": ["simulator:fail", "hub.throttled", "auth.throttled", "target.throttled", "send.pace"],
    ]

    /// The names of topics for a word in singular or plural, with blanks, hyphens or underscores; none for other words.
    static func names(for text: String) -> [String] {
        let word = text.lowercased().replacing("-", with: " ").replacing("_", with: " ")
        var forms = [word]
        if word.hasSuffix("s") { forms.append(String(word.dropLast())) }
        if word.hasSuffix("ies") { forms.append("\(word.dropLast(3))y") }
        return forms.lazy.compactMap { Self.topics[$0] }.first ?? []
    }
}
