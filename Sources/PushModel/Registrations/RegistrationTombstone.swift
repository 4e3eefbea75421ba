/// The time and the reason of a registration's removal. Its id cannot be used again; a write to it gets status 410.
package struct RegistrationTombstone: Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        case deleted
        case expired
        /// A push service reported its handle as invalid.
        case invalidHandle(InvalidHandleReport)
        /// Its installation no longer includes it, or was deleted.
        case installationChanged
    }

    package var reason: Reason
    package var time: Timestamp

    package init(_ reason: Reason, at time: Timestamp) {
        self.reason = reason
        self.time = time
    }
}
