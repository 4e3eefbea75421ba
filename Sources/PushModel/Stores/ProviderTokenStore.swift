/// Stores tokens that push services accept for a limited time, so that a new process can continue to use them.
///
/// Errors: `storage.unavailable` (503).
package protocol ProviderTokenStore: Sendable {
    /// Nil if there is no token.
    func token(_ key: String) async throws(PushError) -> ProviderToken?
    /// Replaces the stored token.
    func put(_ token: ProviderToken, for key: String) async throws(PushError)
}

/// A signed token that authenticates the sender to a push service.
package struct ProviderToken: Sendable, Equatable {
    package var token: Secret
    package var issuedAt: Timestamp

    package init(token: Secret, issuedAt: Timestamp) {
        self.token = token
        self.issuedAt = issuedAt
    }
}
