/// An authenticated user's session.
package struct Session: Sendable, Equatable {
    package var username: String
    package var token: Secret
    package var expiration: Timestamp

    package init(username: String, token: Secret, expiration: Timestamp) {
        self.username = username
        self.token = token
        self.expiration = expiration
    }
}
