/// An account of the app backend.
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
