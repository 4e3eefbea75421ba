/// Sends notifications of a hub, and cancels them.
///
/// A type that wraps a sender implements every method itself: a check that one of them skips does not hold.
package protocol NotificationSender: Sendable {
    /// Sends immediately and returns when every device has a final result.
    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome
    func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome
    /// Sends immediately to exactly the devices of a plan. Throws `plan.*`, `target.unsupported`.
    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome
    /// Throws `notification.not_found` if the id is unknown or the notification has started.
    func cancel(notification id: String) async throws(PushError)
}
