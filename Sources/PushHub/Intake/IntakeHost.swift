import PushModel

/// The actor that delivers accepted sends, as the intake reaches it from other tasks.
///
/// `resolved` has the targets that were found for the send before, if any. They are replaced if they are no longer current.
protocol IntakeHost: PlanHost {
    /// Validates a request against the platforms of its current targets. Throws `payload.*` and `handle.invalid`.
    func checked(_ request: NotificationRequest, _ resolved: inout ResolvedTargets?) throws(PushError) -> NotificationRequest
    /// Counts the devices that a send would reach now; nil if they are at most `number`.
    func reach(of request: NotificationRequest, beyond number: Int, _ resolved: inout ResolvedTargets?) async -> AudienceReach?
    func reach(of request: NotificationRequest, _ resolved: inout ResolvedTargets?) async -> AudienceReach
    /// The stored request and the current state of a notification. Throws `notification.not_found`.
    func notification(_ id: String) async throws(PushError) -> StoredNotification
    /// Queues an accepted notification, with the targets that were found when it was checked.
    ///
    /// - Parameter account: charged for the delivery; nil for none.
    func enqueue(_ stored: StoredNotification, _ targets: ResolvedTargets?, for account: (any WorkAccount)?)
    /// The outcome of a notification as it is now.
    func current(_ outcome: NotificationOutcome) -> NotificationOutcome
}
