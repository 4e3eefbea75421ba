/// A signed token that authenticates the sender to a push service.
package struct ProviderToken: Sendable, Equatable {
    package var token: Secret
    package var issuedAt: Timestamp

    package init(token: Secret, issuedAt: Timestamp) {
        self.token = token
        self.issuedAt = issuedAt
    }
}
