package import PushModel

/// The reason why the webhook cannot be reached.
package struct WebhookIssue: Sendable, Equatable {
    /// Time of the first failed attempt.
    package var since: Timestamp
    /// The error of the last attempt.
    package var why: String
    package var nextTry: Timestamp
}

/// The state of `feedback.webhook`, as reported to `pushhost doctor`.
package struct WebhookState: Sendable, Equatable {
    /// The address without its path, which may contain a secret.
    package var address: String
    /// Number of devices of all hubs that are not reported yet.
    package var waiting: Int
    package var issue: WebhookIssue?

    init(address: String, waiting: Int, issue: WebhookIssue?) {
        (self.address, self.waiting, self.issue) = (address, waiting, issue)
    }

    var json: JSON {
        var members = JSONObject([("address", .string(address)), ("waiting", .integer(Int64(waiting)))])
        if let issue {
            members.append("since", .integer(issue.since.seconds))
            members.append("why", .string(issue.why))
            members.append("nextTry", .integer(issue.nextTry.seconds))
        }
        return .object(members)
    }

    package init?(_ json: JSON) {
        guard let address = json["address"]?.string, let waiting = json["waiting"]?.int else { return nil }
        (self.address, self.waiting) = (address, waiting)
        if let since = json["since"]?.int, let why = json["why"]?.string, let next = json["nextTry"]?.int {
            issue = WebhookIssue(since: Timestamp(seconds: Int64(since)), why: why, nextTry: Timestamp(seconds: Int64(next)))
        }
    }
}
