/// A push service's result for one device. A rejection is a result, not an error.
package enum Verdict: Sendable, Equatable {
    /// The service accepted the notification. `id` is the service's own (`apns-id`, FCM's message name, `X-WNS-Msg-ID`).
    case accepted(id: String?)
    /// The service rejected the notification for good.
    case rejected(Rejection)
    /// A temporary failure; retry after `retryAfter` if the service named a time.
    case transient(Rejection, retryAfter: Duration?)
    /// The connection broke after the request was sent: the notification may or may not have been delivered.
    case unknown(reason: String)
}

package struct Rejection: Sendable, Equatable {
    /// The reach of a rejection beyond its device.
    package enum Scope: Sendable {
        /// The service or the hub's credential may be the cause: other sends are likely to be rejected, too.
        case hub
        /// The send's headers are the cause: every device of this send is rejected, other sends are not affected.
        case headers
        /// The send's content or its device is the cause: others are not affected.
        case send
    }

    /// HTTP status; 0 if the connector rejected the notification before sending.
    package var status: Int
    /// The service's own code: `BadDeviceToken`, `UNREGISTERED`, `channelthrottled`.
    package var reason: String
    /// Text for people: what the rejection means and what to do.
    package var explanation: String
    /// Azure's outcome name, as counted in telemetry.
    package var outcome: OutcomeName
    /// Set if the rejection is due to the device's handle.
    package var handleFault: HandleFault?
    package var scope: Scope
    /// The service currently rejects everything sent with this credential: requests for other devices would get the same response.
    package var isCredentialBlocked: Bool

    /// The reason that a simulated service gives if its lab cannot hold another device.
    package static let labFullReason = "LabFull"

    package init(
        status: Int, reason: String, explanation: String, outcome: OutcomeName, handleFault: HandleFault? = nil, scope: Scope = .hub,
        isCredentialBlocked: Bool = false
    ) {
        self.status = status
        self.reason = reason
        self.explanation = explanation
        self.outcome = outcome
        self.handleFault = handleFault
        self.scope = scope
        self.isCredentialBlocked = isCredentialBlocked
    }

    /// Whether the handle is invalid: its registration is removed.
    package var isHandleInvalid: Bool { if case .invalid = handleFault { true } else { false } }

    /// When the service last found the handle invalid, if it is invalid and the service says so.
    package var invalidSince: Timestamp? { if case .invalid(let since) = handleFault { since } else { nil } }

    /// The advice for a handle that may be valid elsewhere.
    package var wrongEnvironment: String? { if case .wrongEnvironment(let advice) = handleFault { advice } else { nil } }
}

/// The fault that a push service found with a device's handle.
package enum HandleFault: Sendable, Equatable {
    /// The handle is invalid. `since` is when the service last found it invalid, if it says so.
    case invalid(since: Timestamp? = nil)
    /// The handle may be valid in the service's other environment or for another app. The advice applies to all devices of the credential.
    case wrongEnvironment(advice: String)
}
