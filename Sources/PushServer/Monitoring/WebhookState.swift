import PushModel

/// Why the webhook cannot be reached.
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
    package var trouble: WebhookIssue?

    init(address: String, waiting: Int, trouble: WebhookIssue?) {
        (self.address, self.waiting, self.trouble) = (address, waiting, trouble)
    }

    var json: JSON {
        var members = JSONObject([("address", .string(address)), ("waiting", .integer(Int64(waiting)))])
        if let trouble {
            members.append("since", .integer(trouble.since.seconds))
            members.append("why", .string(trouble.why))
            members.append("nextTry", .integer(trouble.nextTry.seconds))
        }
        return .object(members)
    }

    package init?(_ json: JSON) {
        guard let address = json["address"]?.string, let waiting = json["waiting"]?.int else { return nil }
        (self.address, self.waiting) = (address, waiting)
        if let since = json["since"]?.int, let why = json["why"]?.string, let next = json["nextTry"]?.int {
            trouble = WebhookIssue(since: Timestamp(seconds: Int64(since)), why: why, nextTry: Timestamp(seconds: Int64(next)))
        }
    }
}
