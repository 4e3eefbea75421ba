import PushModel

extension OutcomeCause {
    /// Converts the English sentence with which older versions explained an outcome. The sentences must never change. A text that is none
    /// of them stays text.
    init(sentence text: String, of outcome: OutcomeName, reason: String) {
        switch (outcome, reason) {
        case (.success, _) where text == "accepted by the push service": self = .accepted
        case (.skipped, "Hook"): self = .ruled(HookReason(sentence: text))
        case (.skipped, "") where Self.duplicates.contains(text): self = .duplicate
        case (.skipped, "") where text == "the registration left before its turn came": self = .removedEarly
        case (.abandoned, "") where text == "the delivery was cancelled": self = .cancelled
        case (.pnsUnreachable, _) where Self.unanswered.contains(text): self = .unanswered
        default: self = .text(text)
        }
    }

    private static let duplicates: Set<String> = [
        "another registration with the same handle stands for it", "the same handle already got this notification",
    ]
    private static let unanswered: Set<String> = ["it is unknown whether it was delivered", "nobody knows whether it was delivered"]
}

extension HookReason {
    /// Converts the text of older versions, `quiet: at night`. Without a colon there is no plugin: names of plugins have none.
    init(sentence text: String) {
        guard let colon = text.firstIndex(of: ":") else {
            self.init(plugin: nil, reason: text)
            return
        }
        self.init(plugin: String(text[..<colon]), reason: String(text[text.index(after: colon)...].drop { $0 == " " }))
    }
}
