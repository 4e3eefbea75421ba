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
