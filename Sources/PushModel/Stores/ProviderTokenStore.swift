/// Stores tokens that push services accept for a limited time, so that a new process can continue to use them.
///
/// Errors: `storage.unavailable` (503).
package protocol ProviderTokenStore: Sendable {
    /// Nil if there is no token.
    func token(_ key: String) async throws(PushError) -> ProviderToken?
    /// Replaces the stored token.
    func put(_ token: ProviderToken, for key: String) async throws(PushError)
}
