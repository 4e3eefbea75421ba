import PushModel

/// A value of the header `authorization`, with its lifetime.
struct Credential: Sendable, Equatable {
    let token: Secret
    let issued: Timestamp
    /// From this time on it should be renewed; it remains valid until `expires`.
    let renewal: Timestamp
    let expires: Timestamp
}

extension PushError {
    /// `credential.invalid`: a key or an account that cannot be used to sign.
    static func invalidCredential(_ what: String, _ fix: String) -> PushError {
        PushError("credential.invalid", what, hint: fix, status: 400)
    }
}
