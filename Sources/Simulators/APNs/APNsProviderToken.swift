/// A provider token whose signature is good (Apple, "Establishing a token-based connection to APNs").
struct APNsProviderToken: Sendable {
    /// One hour, in seconds.
    static let lifetime: Int64 = 3600
    /// How far a sender's clock may be ahead, in seconds.
    static let skew: Int64 = 300

    var keyID: String
    /// Seconds since 1970.
    var issuedAt: Int64
    var environment: APNsEnvironment?

    /// Verifies a token against the team's keys.
    init(_ text: String, settings: APNsSimulatorSettings) throws(APNsRefusal) {
        guard let token = CompactToken(text), token.issuer == settings.teamID, let issuedAt = token.issuedAt,
            let keyID = token.keyID, let key = settings.keys[keyID], token.isSigned(by: key.publicKey)
        else { throw APNsRefusal(.invalidProviderToken) }
        self.keyID = keyID
        self.issuedAt = issuedAt
        environment = key.environment
    }

    /// Whether the token may be used now, here, and after a token of `connectionKey` on the same connection.
    func check(seconds: Int64, environment: APNsEnvironment, connectionKey: String?) throws(APNsRefusal) {
        guard seconds - issuedAt <= Self.lifetime, issuedAt - seconds <= Self.skew else {
            throw APNsRefusal(.expiredProviderToken)
        }
        guard self.environment ?? environment == environment else { throw APNsRefusal(.badEnvironmentKeyIDInToken) }
        guard connectionKey ?? keyID == keyID else { throw APNsRefusal(.unrelatedKeyIDInToken) }
    }
}
