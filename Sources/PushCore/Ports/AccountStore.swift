/// Where accounts and open sessions lie. Every call is one step.
///
/// Errors: `storage.unavailable` (503).
package protocol AccountStore: Sendable {
    /// By the tag of the user.
    func account(_ user: Tag) async throws(PushError) -> Account?
    /// False, and nothing is kept, where the user has an account. Ends the sessions that the user had without one.
    func insert(_ account: Account) async throws(PushError) -> Bool
    /// In the order of their tags, those behind `user`, or from the first on for nil.
    func accounts(after user: Tag?, limit: Int) async throws(PushError) -> [Account]
    /// How many accounts have a hash of a lower cost.
    func count(cheaperThan cost: ScryptCost) async throws(PushError) -> Int
    /// Takes the place of the user's account, and ends the sessions of the user. False where there is none.
    func update(_ account: Account) async throws(PushError) -> Bool
    /// Ends the sessions of the user, and takes the secure payloads from and to the user away: whoever has the name next is somebody
    /// else. False where there is none.
    func remove(_ user: Tag) async throws(PushError) -> Bool
    /// Keeps an open session of a user who has still that hash, or for nil still no account; else false.
    func open(_ session: StoredSession, of user: Tag, with hash: PasswordHash?) async throws(PushError) -> Bool
    /// By the SHA-256 of its token; also one that has expired.
    func session(_ digest: [UInt8]) async throws(PushError) -> StoredSession?
    func close(_ digest: [UInt8]) async throws(PushError)
    /// Forgets sessions that have expired by `now`, at most `limit`; answers how many.
    func removeExpired(now: Timestamp, limit: Int) async throws(PushError) -> Int
}

package struct Account: Sendable, Equatable {
    /// The tag of the user; names that differ only in case are one account.
    package var user: Tag
    package var username: String
    package var hash: PasswordHash

    package init(user: Tag, username: String, hash: PasswordHash) {
        self.user = user
        self.username = username
        self.hash = hash
    }
}

/// An open session without its token, which nobody keeps.
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
