/// When and why a registration left: its id is no longer usable, and writing to it is answered with 410.
package struct RegistrationDeparture: Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        case deleted
        case expired
        /// A push service called its handle dead, for this reason.
        case handleDied(String)
        /// Its installation has another shape now, or is gone.
        case installationChanged
    }

    package var reason: Reason
    package var time: Timestamp

    package init(_ reason: Reason, at time: Timestamp) {
        self.reason = reason
        self.time = time
    }
}
