/// Words that people search for and that the reference does not use: topics about them, and other words for the same.
enum SearchWords {
    /// The topics that a search for the word lists first.
    static let topics: [String: [String]] = [
        "permission": [
            "capability.denied", "plugin.not_granted", "http.denied", "phase.not_allowed", "sas.forbidden", "backend.forbidden",
            "secrets.unreadable",
        ],
        "device not registered": ["hub.no_target", "hub.not_found", "hub.gone"],
        "invalid token": ["handle.invalid"],
        "isolation": ["push.test.it", "push.test.plugin", "sandbox.absent", "script.outside", "script.read_only"],
        "dry run": ["push.plan", "push.rehearse", "push.target", "push.Plan"],
        "reload": ["push.test.plugin", "plugin.spec", "plugin.refused", "plugin.unkept", "settings.invalid"],
        "quiet hours": ["push.clock.zone", "push.clock.window_end", "push.clock.time_zones", "daily_window.invalid", "time_zone.unknown"],
        "retry": [
            "simulator:fail", "hub.idempotency_key", "run.attempts", "run.interrupted", "target.throttled",
            "simulator.retry_after",
        ],
        "rate limit": ["push.send", "hub.throttled", "auth.throttled", "target.throttled", "send.pace", "simulator:fail"],
    ]

    /// The settings and guides of the program that a search for the word lists before the topics.
    static let notes: [String: [String]] = [
        "approval": ["approval"],
        "audit log": ["audit"],
        "backoff": ["retry backoff", "delivery.retry_window"],
        "concurrency": ["limits.concurrent_notifications", "limits.concurrent_flows"],
        "logging": ["log.level", "log.format"],
        "metric": ["GET /metrics"],
        "migrate": ["server upgrade"],
        "migration": ["server upgrade"],
        "monitoring": ["GET /metrics"],
        "prometheus": ["GET /metrics"],
        "retry": ["delivery.retry_window"],
    ]

    /// Other words for a phrase.
    private static let synonyms: [(phrase: String, meanings: [String])] = [
        ("address in use", ["uses the port"]),
        ("authentication", ["login", "401"]),
        ("bad gateway", ["502"]),
        ("bad request", ["400 invalid"]),
        ("connect", ["unreachable"]),
        ("connection refused", ["unreachable"]),
        ("connection reset", ["connection breaks"]),
        ("crash", ["server stopped"]),
        ("deduplicate", ["idempotency"]),
        ("duplicate notification", ["idempotency key", "duplicate"]),
        ("forbidden", ["403"]),
        ("found", ["unknown"]),
        ("gateway timeout", ["504"]),
        ("invalid token", ["bad device token", "handle format"]),
        ("max", ["maximum"]),
        ("oom", ["memory limit"]),
        ("parse", ["invalid", "read"]),
        ("permission", ["capability"]),
        ("quota", ["429"]),
        ("rate limited", ["429"]),
        ("sandbox", ["development environment"]),
        ("service unavailable", ["503"]),
        ("silent", ["background"]),
        ("space left device", ["disk full"]),
        ("space left", ["disk full"]),
        ("ssl", ["tls", "certificate"]),
        ("timed", ["timeout"]),
        ("timeout", ["too slow", "exceeded timeout"]),
        ("token expired", ["session expired", "signature expired"]),
        ("too many requests", ["429"]),
        ("unauthorised", ["401"]),
        ("unauthorized", ["401"]),
        ("user found", ["unknown user"]),
        ("wrong environment", ["other environment"]),
    ]

    /// All words with topics or notes.
    static var words: Set<String> { Set(topics.keys).union(notes.keys) }

    /// The names of notes and topics for a word in singular or plural, with blanks, hyphens or underscores; none for other words.
    static func names(for text: String) -> [String] {
        let word = text.lowercased().replacing("-", with: " ").replacing("_", with: " ")
        var forms = [word]
        if word.hasSuffix("s") { forms.append(String(word.dropLast())) }
        if word.hasSuffix("ies") { forms.append("\(word.dropLast(3))y") }
        return forms.lazy.map { (notes[$0] ?? []) + (topics[$0] ?? []) }.first { !$0.isEmpty } ?? []
    }

    /// The terms of queries with the same meaning: each phrase that occurs in the terms is replaced by its meanings.
    static func alternatives(to terms: [String]) -> [[String]] {
        synonyms.flatMap { synonym -> [[String]] in
            let phrase = SearchText(synonym.phrase).terms
            guard let start = terms.indices.first(where: { terms[$0...].starts(with: phrase) }) else { return [] }
            return synonym.meanings.map { terms[..<start] + SearchText($0).terms + terms[(start + phrase.count)...] }.map(Array.init)
        }
    }
}
