import PushModel

/// The audit details of a send: its audience and the size of its content, but not the content.
enum SendAuditDetails {
    /// - Parameters:
    ///   - dueTime: The due time; nil for at once.
    ///   - interface: The interface used: `management`, or `hub` for the one of Azure's clients.
    static func details(
        _ request: NotificationRequest, _ hub: String, at dueTime: String?, _ interface: String
    ) -> [String: String] {
        var details = [
            "hub": hub, "audience": request.audience.words, "content": request.content.words, "interface": interface,
        ]
        details["at"] = dueTime
        if request.isTest { details["test"] = "at most ten devices" }
        return details
    }
}
