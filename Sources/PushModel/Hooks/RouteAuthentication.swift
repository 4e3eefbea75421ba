/// The authentication that a route requires.
package enum RouteAuthentication: Sendable, Equatable {
    /// None. Must be declared explicitly.
    case open
    /// A user of the app backend, by HTTP Basic or a session token.
    case account
    /// A key of the default hub or of the namespace with this right.
    case sas(SASRight)
    /// A body signed with the named secret.
    case webhook(secret: String, scheme: WebhookScheme)
}
