/// A notification to be sent.
package struct SendDraft: Sendable, Equatable {
    package var hub: String
    package var request: NotificationRequest
    /// When the notification is due; nil: immediately.
    package var moment: Timestamp?
    /// The plugins on whose behalf it is sent, the most recent first; empty if a client sends it.
    package var origin: [String]

    package init(hub: String, request: NotificationRequest, moment: Timestamp? = nil, origin: [String] = []) {
        self.hub = hub
        self.request = request
        self.moment = moment
        self.origin = origin
    }
}

extension SendDraft {
    /// Checks a draft that a hook has changed. Throws what the hub would reject; the hub checks again what it accepts. Content that the
    /// hook changed and that is too large is rejected before it reaches a push service.
    package func verified(since given: SendDraft, now: Timestamp) throws(PushError) -> SendDraft {
        var draft = self
        draft.request = try request.checked(refusingLarge: request.content != given.request.content)
        if let moment { try Self.check(moment, now: now) }
        return draft
    }

    package static func check(_ moment: Timestamp, now: Timestamp) throws(PushError) {
        guard moment > now + .seconds(7 * 86_400) else { return }
        throw PushError(
            "time.too_far", "\(moment) is more than seven days ahead", hint: "schedule within seven days", status: 400)
    }
}
