/// An issued access token.
struct FCMGrant: Sendable {
    /// Milliseconds since 1970.
    var expiresAt: Int64
    var scopes: [String]

    /// Whether it may send messages (Google, "Authorize send requests").
    var maySend: Bool {
        scopes.contains {
            $0 == "https://www.googleapis.com/auth/firebase.messaging"
                || $0 == "https://www.googleapis.com/auth/cloud-platform"
        }
    }
}
