/// A payload for one user: stored by the backend and fetched by the user's device, never sent through a push service.
package struct SecureRequest: Sendable {
    /// The recipient.
    package var username: String
    package var payload: JSON
    /// How long the payload can be read: at most 30 days; nil: an hour.
    package var lifetime: Duration?
    /// Maximum number of reads; nil: unlimited until it expires.
    package var maximumReads: Int?

    package init(username: String, payload: JSON, lifetime: Duration? = nil, maximumReads: Int? = nil) {
        self.username = username
        self.payload = payload
        self.lifetime = lifetime
        self.maximumReads = maximumReads
    }
}

// MARK: - Limits

extension SecureRequest {
    /// Maximum size of a payload, in bytes of JSON.
    package static let maximumSize = 65_536
    package static let defaultLifetime: Duration = .seconds(3600)
    package static let maximumLifetime: Duration = .seconds(30 * 86_400)

    /// Throws `secure.maximum_reads` for fewer than one read.
    package static func checkMaximumReads(_ maximum: Int) throws(PushError) {
        guard maximum < 1 else { return }
        throw PushError(
            "secure.maximum_reads", "invalid maximum number of reads: \(maximum)",
            hint: "allow at least one read, or omit the number", status: 400)
    }

    /// Returns the lifetime, or the default one for nil. Throws `secure.lifetime` for one that is not positive or above 30 days.
    package static func checkedLifetime(_ lifetime: Duration?) throws(PushError) -> Duration {
        let lifetime = lifetime ?? defaultLifetime
        guard lifetime > .zero, lifetime <= maximumLifetime else {
            throw PushError(
                "secure.lifetime", "invalid lifetime \(lifetime.short): it must be positive and at most 30 days",
                hint: "give a lifetime up to 30 days, or none for one hour", status: 400)
        }
        return lifetime
    }
}

/// Hides the payload from printing and reflection.
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

/// The answer that the sender of a secure payload receives.
package struct SecureReceipt: Sendable, Equatable {
    /// The only part that is sent through push services.
    package var id: String
    package var expiration: Timestamp
    /// The result of the push that delivers the id.
    package var outcome: NotificationOutcome

    package init(id: String, expiration: Timestamp, outcome: NotificationOutcome) {
        self.id = id
        self.expiration = expiration
        self.outcome = outcome
    }
}
