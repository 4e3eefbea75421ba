/// The sender that APNs has authenticated on a connection.
struct APNsSender: Sendable {
    /// Team and key id of the first accepted provider token.
    var teamID: String?
    var keyID: String?
    /// The certificate of the TLS handshake; with one, provider tokens are ignored.
    var certificate: APNsPushCertificate?
    /// Whether the latest request was authenticated, by token or certificate, even if it was then rejected.
    var isAuthenticated = false
}

/// The topics that a sender may send to.
struct APNsAllowedTopics: Sendable {
    /// Bundle ids, without suffixes; `nil` with a certificate.
    var bundleIDs: Set<String>?
    /// Whole topics, with a certificate.
    var topics: Set<String> = []
    /// The topic if `apns-topic` is absent; `nil` if it is required.
    var defaultTopic: String?

    func includes(topic: String, bundleID: String) -> Bool { bundleIDs?.contains(bundleID) ?? topics.contains(topic) }
}
