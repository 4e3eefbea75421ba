package import Crypto

/// The configuration of one team in Apple's developer account.
package struct APNsSimulatorSettings: Sendable {
    /// A token signing key, as registered with the team.
    package struct Key: Sendable {
        package var publicKey: P256.Signing.PublicKey
        /// The only environment that the key may be used in; `nil` for both.
        package var environment: APNsEnvironment?
        /// The team that owns the key; `nil` for the team of the settings.
        package var teamID: String?
        /// The bundle ids that it may be used for; `nil` for those of the settings.
        package var topics: Set<String>?

        package init(
            publicKey: P256.Signing.PublicKey, environment: APNsEnvironment? = nil, teamID: String? = nil, topics: Set<String>? = nil
        ) {
            self.publicKey = publicKey
            self.environment = environment
            self.teamID = teamID
            self.topics = topics
        }
    }

    /// The 10-character team id, the `iss` of provider tokens.
    package var teamID: String
    /// Signing keys by their 10-character key id, including keys of other teams.
    package var keys: [String: Key]
    /// The bundle ids that the team may send to, without suffixes.
    package var topics: Set<String>
    package var environment: APNsEnvironment
    /// Maximum number of pushes to one device token per minute; then `TooManyRequests`.
    package var pushesPerMinutePerDevice = 600
    /// The bundle ids that have the broadcast capability; `nil` for all.
    package var broadcasting: Set<String>?
    /// Maximum number of broadcast channels per app and environment.
    package var largestChannelCount = 10_000
    /// The key that signs genuine push certificates; with `nil` all certificates are rejected.
    package var certificateAuthority: P256.Signing.PublicKey?
    package var tokenRules = APNsTokenRules()

    package init(
        teamID: String, keys: [String: Key] = [:], topics: Set<String> = [],
        environment: APNsEnvironment = .production
    ) {
        self.teamID = teamID
        self.keys = keys
        self.topics = topics
        self.environment = environment
    }
}
