/// A provider token with a valid signature (Apple, "Establishing a token-based connection to APNs").
struct APNsProviderToken: Sendable {
    /// One hour, in seconds.
    static let lifetime: Int64 = 3600
    /// How far a sender's clock may be ahead, in seconds.
    static let skew: Int64 = 300

    var keyID: String
    var teamID: String
    /// Seconds since 1970.
    var issuedAt: Int64
    var environment: APNsEnvironment?
    /// The bundle ids that its key is restricted to; `nil` for those of the team.
    var topics: Set<String>?

    /// Verifies a token with the keys of its team.
    ///
    /// Apple accepts more than its page and the RFCs describe. Libraries in use send DER signatures (pushy, CupertinoJWT), an `iat` with a
    /// fraction (PyAPNs2) and an `iat` as a string (kalyke).
    init(_ text: String, settings: APNsSimulatorSettings) throws(APNsRefusal) {
        guard let token = CompactToken(text), let teamID = token.issuer,
            let issuedAt = settings.tokenRules.isStrict ? token.wholeSeconds("iat") : token.lenientSeconds("iat"),
            let keyID = token.keyID, let key = settings.keys[keyID], teamID == key.teamID ?? settings.teamID,
            token.isSigned(by: key.publicKey, allowsDER: !settings.tokenRules.isStrict)
        else { throw APNsRefusal(.invalidProviderToken) }
        self.keyID = keyID
        self.teamID = teamID
        topics = key.topics
        self.issuedAt = issuedAt
        environment = key.environment
    }

    /// Checks that the token is valid now, in this environment and on this connection: a connection is bound to one team, and to one of its
    /// keys.
    func check(seconds: Int64, environment: APNsEnvironment, sender: APNsSender) throws(APNsRefusal) {
        guard issuedAt >= seconds - Self.lifetime, issuedAt <= seconds + Self.skew else {
            throw APNsRefusal(.expiredProviderToken)
        }
        guard self.environment ?? environment == environment else { throw APNsRefusal(.badEnvironmentKeyIDInToken) }
        guard sender.teamID ?? teamID == teamID else { throw APNsRefusal(.invalidProviderToken) }
        guard sender.keyID ?? keyID == keyID else { throw APNsRefusal(.unrelatedKeyIDInToken) }
    }
}
