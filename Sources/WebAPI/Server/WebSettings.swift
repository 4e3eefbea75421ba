import PushCore

/// What the web interface is told when it is made.
package struct WebSettings: Sendable {
    /// Whether requests come over TLS.
    package var isSecure: Bool
    /// What clients know the server by, where that is not the host of their requests; without a slash at its end.
    package var publicURL: String?
    /// Whether whoever can connect may do everything, without a token: a socket that only the owner of the server reaches.
    package var isTrusted: Bool
    /// What hubs accept from clients.
    package var policy: ClientPolicy

    package init(isSecure: Bool = false, publicURL: String? = nil, isTrusted: Bool = false, policy: ClientPolicy = ClientPolicy()) {
        self.isSecure = isSecure
        self.publicURL = publicURL
        self.isTrusted = isTrusted
        self.policy = policy
    }
}
