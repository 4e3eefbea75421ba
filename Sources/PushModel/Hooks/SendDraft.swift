/// A notification to be sent.
package struct SendDraft: Sendable, Equatable {
    package var hub: String
    package var request: NotificationRequest
    /// When the notification is due; nil: immediately.
    package var dueTime: Timestamp?
    /// The plugins on whose behalf it is sent, the most recent first; empty if a client sends it.
    package var origin: [String]

    package init(hub: String, request: NotificationRequest, dueTime: Timestamp? = nil, origin: [String] = []) {
        self.hub = hub
        self.request = request
        self.dueTime = dueTime
        self.origin = origin
    }
}

extension SendDraft {
    /// Checks a draft that a hook has changed. Throws what the hub would reject; the hub checks again what it accepts. Content that the
    /// hook changed and that is too large is rejected before it reaches a push service.
    package func verified(since original: SendDraft, now: Timestamp) throws(PushError) -> SendDraft {
        var draft = self
        draft.request = try request.checked(refusingLarge: request.content != original.request.content)
        if let dueTime { try Self.check(dueTime, now: now) }
        return draft
    }

    package static func check(_ dueTime: Timestamp, now: Timestamp) throws(PushError) {
        guard dueTime > now + .seconds(7 * 86_400) else { return }
        throw PushError(
            "time.too_far", "\(dueTime) is more than seven days ahead", hint: "schedule within seven days", status: 400)
    }
}
