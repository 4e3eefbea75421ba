/// Stores accounts and open sessions. Every call is atomic.
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
    /// Stores an open session if the user still has this password hash, or still no account if `hash` is nil. Otherwise returns false.
    func open(_ session: StoredSession, of user: Tag, with hash: PasswordHash?) async throws(PushError) -> Bool
    /// Returns the session with this SHA-256 of its token, even if it has expired.
    func session(_ digest: [UInt8]) async throws(PushError) -> StoredSession?
    func close(_ digest: [UInt8]) async throws(PushError)
    /// Deletes at most `limit` sessions that have expired by `now`. Returns their number.
    func removeExpired(now: Timestamp, limit: Int) async throws(PushError) -> Int
}

package struct Account: Sendable, Equatable {
    /// The user's tag. Names that differ only in case are the same account.
    package var user: Tag
    package var username: String
    package var hash: PasswordHash

    package init(user: Tag, username: String, hash: PasswordHash) {
        self.user = user
        self.username = username
        self.hash = hash
    }
}

/// An open session. The token itself is never stored.
package struct StoredSession: Sendable, Equatable {
    /// SHA-256 of the token.
    package var digest: [UInt8]
    package var username: String
    package var expiration: Timestamp

    package init(digest: [UInt8], username: String, expiration: Timestamp) {
        self.digest = digest
        self.username = username
        self.expiration = expiration
    }
}
