import PushModel

/// A push service's temporary rejection of the hub's credential, whatever the device.
package struct CredentialBlock: Sendable, Equatable {
    /// The service's reason code, such as `TooManyProviderTokenUpdates`.
    package var reason: String
    /// What it means and what to do, as text.
    package var explanation: String

    package init(reason: String, explanation: String) { (self.reason, self.explanation) = (reason, explanation) }

    /// Nil for other verdicts.
    init?(_ verdict: Verdict) {
        guard case .transient(let rejection, _) = verdict, rejection.isCredentialBlocked else { return nil }
        self.init(reason: rejection.reason, explanation: rejection.explanation)
    }
}
