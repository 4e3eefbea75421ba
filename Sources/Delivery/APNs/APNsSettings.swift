import PushCore

/// What Apple's developer account says about one app ("Establishing a token-based connection to APNs").
package struct APNsSettings: Sendable {
    package enum Environment: String, Sendable, CaseIterable {
        case production, development

        /// "Sending notification requests to APNs" names both hosts.
        package var host: String {
            switch self {
            case .production: "api.push.apple.com"
            case .development: "api.sandbox.push.apple.com"
            }
        }
    }

    /// Ten characters, of the developer account.
    package var teamID: String
    /// Ten characters, of the signing key.
    package var keyID: String
    /// The `.p8` file's text: a P-256 key in PKCS #8.
    package var privateKey: Secret
    /// The app's bundle id.
    package var topic: String
    package var environment: Environment

    package init(
        teamID: String, keyID: String, privateKey: Secret, topic: String, environment: Environment = .production
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = privateKey
        self.topic = topic
        self.environment = environment
    }
}
