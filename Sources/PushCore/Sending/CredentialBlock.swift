/// What a push service says that refuses the hub's credential for the time being, whatever the device.
package struct CredentialBlock: Sendable, Equatable {
    /// The service's own word, such as `TooManyProviderTokenUpdates`.
    package var reason: String
    /// What it means and what to do, in words.
    package var explanation: String

    package init(reason: String, explanation: String) { (self.reason, self.explanation) = (reason, explanation) }

    /// Nil for a verdict that says nothing of the kind.
    init?(_ verdict: Verdict) {
        guard case .transient(let rejection, _) = verdict, rejection.isCredentialBlocked else { return nil }
        self.init(reason: rejection.reason, explanation: rejection.explanation)
    }
}
