/// Reads the results of a hub's notifications.
package protocol NotificationReader: Sendable {
    func outcome(of id: String) async throws(PushError) -> NotificationOutcome
    /// Waits for the notification to end if it is due or active. Returns immediately if it is still scheduled.
    func finish(_ id: String) async throws(PushError) -> NotificationOutcome
    /// Explains why a device did or did not show a notification, or counts devices by result.
    ///
    /// Throws `notification.not_found`, `notification.forgotten` and `device.not_found` (404), and `target.unsupported` if the hub does not
    /// support traces.
    func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer
}
