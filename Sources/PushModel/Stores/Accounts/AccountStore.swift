/// Stores the accounts of the app backend. Every call is atomic.
///
/// Errors: `storage.unavailable` (503).
package protocol AccountStore: Sendable {
    /// Returns the account with the user's tag.
    func account(_ user: Tag) async throws(PushError) -> Account?
    /// Stores a new account and ends the sessions that the user had without one. Returns false and stores nothing if the account exists.
    func insert(_ account: Account) async throws(PushError) -> Bool
    /// Accounts in the order of their tags: those after `user`, or from the first if nil.
    func accounts(after user: Tag?, limit: Int) async throws(PushError) -> [Account]
    /// Number of accounts whose hash has a lower cost.
    func count(cheaperThan cost: ScryptCost) async throws(PushError) -> Int
    /// Replaces the user's account and ends the user's sessions. Returns false if there is no account.
    func update(_ account: Account) async throws(PushError) -> Bool
    /// Removes the account, the user's sessions, and the secure payloads from and to the user, because the name may next belong to another
    /// person. Returns false if there is no account.
    func remove(_ user: Tag) async throws(PushError) -> Bool
}
