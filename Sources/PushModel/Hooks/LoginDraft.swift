/// A login of an authenticated user, before the session is created.
package struct LoginDraft: Sendable, Equatable {
    package var username: String
    /// The client's address, if known.
    package var address: String?
    /// Whether the user was accepted without a password, as tutorial mode allows.
    package var isUnproved: Bool

    package init(username: String, address: String? = nil, isUnproved: Bool = false) {
        self.username = username
        self.address = address
        self.isUnproved = isUnproved
    }
}
