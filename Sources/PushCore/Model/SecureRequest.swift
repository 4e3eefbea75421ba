/// A payload for one user's eyes: kept by the backend, fetched by the user's device, never pushed.
package struct SecureRequest: Sendable {
    /// Whom it is for.
    package var username: String
    package var payload: JSON
    /// How long it can be read; an hour for nil, at most 30 days.
    package var lifetime: Duration?
    /// How often it can be read; nil for as often as one likes until it expires.
    package var maximumReads: Int?

    package init(username: String, payload: JSON, lifetime: Duration? = nil, maximumReads: Int? = nil) {
        self.username = username
        self.payload = payload
        self.lifetime = lifetime
        self.maximumReads = maximumReads
    }
}

/// Whoever prints a request does not print the payload.
extension SecureRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "secure payload for \(username): ***" }
    package var debugDescription: String { description }
    package var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "username": username, "lifetime": lifetime as Any, "maximumReads": maximumReads as Any,
            ])
    }
}

/// What the sender of a secure payload keeps.
package struct SecureReceipt: Sendable, Equatable {
    /// All that crosses the wires of the push services.
    package var id: String
    package var expiration: Timestamp
    /// Of the push that brings the id.
    package var outcome: NotificationOutcome

    package init(id: String, expiration: Timestamp, outcome: NotificationOutcome) {
        self.id = id
        self.expiration = expiration
        self.outcome = outcome
    }
}
