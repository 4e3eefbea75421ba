/// Stores the open sessions of the app backend. Every call is atomic.
///
/// Errors: `storage.unavailable` (503).
package protocol SessionStore: Sendable {
    /// Stores an open session if the user still has this password hash, or still no account if `hash` is nil. Otherwise returns false.
    func open(_ session: StoredSession, of user: Tag, with hash: PasswordHash?) async throws(PushError) -> Bool
    /// Returns the session with this SHA-256 of its token, even if it has expired.
    func session(_ digest: [UInt8]) async throws(PushError) -> StoredSession?
    func close(_ digest: [UInt8]) async throws(PushError)
    /// Deletes at most `limit` sessions that have expired by `now`. Returns their number.
    func removeExpired(now: Timestamp, limit: Int) async throws(PushError) -> Int
}
