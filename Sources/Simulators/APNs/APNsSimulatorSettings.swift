import Crypto

/// What the developer's account at Apple would say about one team.
package struct APNsSimulatorSettings: Sendable {
    /// A token signing key, as registered with the team.
    package struct Key: Sendable {
        package var publicKey: P256.Signing.PublicKey
        /// The only environment that the key may be used in; nil for both.
        package var environment: APNsEnvironment?
        /// The team whose key it is; nil for the settings' own.
        package var teamID: String?
        /// The bundle ids that it may be used for; nil for those of the settings.
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
    /// Signing keys by their 10-character key id, those of other teams among them.
    package var keys: [String: Key]
    /// The bundle ids that the team may send to, without suffixes.
    package var topics: Set<String>
    package var environment: APNsEnvironment
    /// How many pushes one device token may get in a minute before `TooManyRequests`.
    package var pushesPerMinutePerDevice = 600
    /// The bundle ids that may broadcast, as the capability says that is granted on the developer's account; nil for all.
    package var broadcasting: Set<String>?
    /// How many broadcast channels an app may have in an environment.
    package var largestChannelCount = 10_000
    /// What genuine push certificates are signed with; nil believes none.
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
