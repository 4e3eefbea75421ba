import PushCore

/// What a push service wants to see in `authorization`, and how long it is good.
struct Credential: Sendable, Equatable {
    let token: Secret
    let issued: Timestamp
    /// From here on a new one is wanted; until `expires` this one still serves.
    let renewal: Timestamp
    let expires: Timestamp
}

extension PushError {
    /// A key or an account that can never sign anything.
    static func invalidCredential(_ what: String, _ cure: String) -> PushError {
        PushError("credential.invalid", what, hint: cure, status: 400)
    }
}
