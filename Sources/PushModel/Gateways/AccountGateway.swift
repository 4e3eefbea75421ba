/// The accounts and sessions of an app backend.
package protocol AccountGateway: Sendable {
    /// Creates the account if it does not exist and if this backend manages accounts.
    func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState
    func login(username: String, password: Secret) async throws(PushError) -> Session
    func logout(_ session: Session) async throws(PushError)
}
