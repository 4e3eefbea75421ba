import PushCore

/// What the audit log tells of a send: whom it is for and how much it says, and not a word of what it says.
enum SentWords {
    /// - Parameters:
    ///   - moment: when it is due; nil for at once.
    ///   - interface: by which it came: `management`, or `hub` for the one that Azure's clients use.
    static func details(
        _ request: NotificationRequest, _ hub: String, at moment: String?, _ interface: String
    ) -> [String: String] {
        var details = [
            "hub": hub, "audience": request.audience.words, "content": request.content.words, "interface": interface,
        ]
        details["at"] = moment
        if request.isTest { details["test"] = "at most ten devices" }
        return details
    }
}
