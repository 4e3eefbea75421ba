/// Where tokens lie that a push service takes for a while, so that a process that starts goes on with the one of the process before.
///
/// Errors: `storage.unavailable` (503).
package protocol ProviderTokenStore: Sendable {
    /// Nil where there is none.
    func token(_ key: String) async throws(PushError) -> ProviderToken?
    /// Takes the place of the one before.
    func put(_ token: ProviderToken, for key: String) async throws(PushError)
}

/// What a sender signed to prove to a push service who it is.
package struct ProviderToken: Sendable, Equatable {
    package var token: Secret
    package var issuedAt: Timestamp

    package init(token: Secret, issuedAt: Timestamp) {
        self.token = token
        self.issuedAt = issuedAt
    }
}
