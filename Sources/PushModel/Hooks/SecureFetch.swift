/// A read of a secure payload, before it happens.
package struct SecureFetch: Sendable, Equatable {
    /// The id of the payload.
    package var id: String
    package var username: String

    package init(id: String, username: String) {
        self.id = id
        self.username = username
    }
}
