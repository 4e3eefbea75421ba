/// Who sends on a connection, as far as APNs has found out.
struct APNsSender: Sendable {
    /// Team and key id of the first accepted provider token.
    var teamID: String?
    var keyID: String?
    /// What the client showed in the TLS handshake; provider tokens are not looked at then.
    var certificate: APNsPushCertificate?
    /// The last request bore a good token or came with a good certificate, whatever became of it.
    var isProven = false
}

/// What a sender may send to.
struct APNsAllowance: Sendable {
    /// Bundle ids, without suffixes; nil with a certificate.
    var bundleIDs: Set<String>?
    /// Whole topics, with a certificate.
    var topics: Set<String> = []
    /// Where `apns-topic` may be left out.
    var defaultTopic: String?

    func includes(topic: String, bundleID: String) -> Bool { bundleIDs?.contains(bundleID) ?? topics.contains(topic) }
}
