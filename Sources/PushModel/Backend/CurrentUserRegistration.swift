/// The result of registering the current user: the device's registration and the result of its test notification.
package struct CurrentUserRegistration: Sendable, Equatable {
    package var registration: Registration
    package var outcome: NotificationOutcome

    package init(registration: Registration, outcome: NotificationOutcome) {
        self.registration = registration
        self.outcome = outcome
    }
}
