import PushModel

/// The settings of the web interface.
package struct WebSettings: Sendable {
    /// Whether requests come over TLS.
    package var isSecure: Bool
    /// The server's public address, if it differs from the host of requests; without a trailing slash.
    package var publicURL: String?
    /// Whether every client may do everything without a token: for a socket that only the server's owner can reach.
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
