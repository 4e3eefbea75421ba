package import PushModel

/// The answer that the sender of an accepted notification gets at once.
package struct AcceptedNotification: Sendable, Equatable {
    /// Without devices.
    package var outcome: NotificationOutcome
    /// Whether the idempotency key was used before with the same request; `outcome` is then that of the first notification.
    package var isRepeated: Bool
}
