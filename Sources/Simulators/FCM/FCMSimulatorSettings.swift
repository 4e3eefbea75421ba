package import CryptoExtras

/// The configuration of a Firebase project and its service account at Google.
package struct FCMSimulatorSettings: Sendable {
    /// The project id, as in `/v1/projects/<id>/messages:send`.
    package var projectID: String
    /// The service account's address, the `iss` of its assertions.
    package var clientEmail: String
    /// The service account's public keys by `private_key_id`.
    package var keys: [String: _RSA.Signing.PublicKey]
    /// The `aud` values that the token endpoint accepts.
    package var audiences: Set<String> = [
        "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
        "https://accounts.google.com/o/oauth2/token",
    ]
    /// Maximum messages per minute and project; then `QUOTA_EXCEEDED`. Google's default quota.
    package var messagesPerMinute = 600_000

    package init(projectID: String, clientEmail: String, keys: [String: _RSA.Signing.PublicKey] = [:]) {
        self.projectID = projectID
        self.clientEmail = clientEmail
        self.keys = keys
    }
}
