/// A notification that has ended.
package struct EndedNotification: Sendable, Equatable {
    package var hub: String
    /// The result without the devices.
    package var outcome: NotificationOutcome
    package var origin: [String]

    package init(hub: String, outcome: NotificationOutcome, origin: [String] = []) {
        self.hub = hub
        self.outcome = outcome
        self.origin = origin
    }
}
