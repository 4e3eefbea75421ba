/// Notifies the devices of a user through an app backend.
package protocol UserNotificationSender: Sendable {
    /// `POST /api/notifications?pns=&to_tag=`: shows "From USER: TEXT" on the devices of `username`, on one platform, or on all if nil.
    ///
    /// Sends only to the tag `username:NAME`. The tutorials' sample sends to `username:NAME || from:USER`, so that any device with the tag
    /// `from:USER` would get a copy of everything that USER writes.
    func notify(
        _ session: Session, username: String, text: String, platform: Platform?
    ) async throws(PushError) -> NotificationOutcome
}
