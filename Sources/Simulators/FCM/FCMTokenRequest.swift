/// A request for an access token with a signed assertion (RFC 7523 section 2.1; Google, "Using OAuth 2.0 for server to server
/// applications").
struct FCMTokenRequest {
    let scopes: [String]

    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// Checks form and assertion. Throws the first of their faults.
    init(
        _ form: FormBody, contentType: String?, settings: FCMSimulatorSettings, seconds: Int64
    ) throws(GrantRefusal) {
        guard FormBody.isContentType(contentType) else {
            throw GrantRefusal("invalid_request", "The body must be a form.")
        }
        guard let grantType = form["grant_type"] else {
            throw GrantRefusal("invalid_request", "Required parameter is missing: grant_type")
        }
        guard grantType == Self.grantType else {
            throw GrantRefusal("unsupported_grant_type", "Invalid grant_type: \(grantType)")
        }
        guard let assertion = form["assertion"] else {
            throw GrantRefusal("invalid_request", "Required parameter is missing: assertion")
        }
        guard let token = CompactToken(assertion) else {
            throw GrantRefusal("invalid_grant", "Invalid JWT: Failed to parse the assertion.")
        }
        guard token.issuer == settings.clientEmail else {
            throw GrantRefusal("invalid_grant", "Invalid grant: account not found")
        }
        guard let key = token.keyID.flatMap({ settings.keys[$0] }), token.isSigned(by: key) else {
            throw GrantRefusal("invalid_grant", "Invalid JWT Signature.")
        }
        guard token.isFor(settings.audiences.contains) else {
            throw GrantRefusal("invalid_grant", "Invalid JWT: Failed audience check.")
        }
        try Self.checkTimes(of: token, now: seconds)
        scopes = (token.claims["scope"]?.string ?? "").split(separator: " ").map { String($0) }
        guard !scopes.isEmpty, scopes.allSatisfy({ $0.hasPrefix("https://www.googleapis.com/auth/") }) else {
            throw GrantRefusal("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        }
    }

    /// Checks that the assertion lasts at most an hour, has not expired and is not from the future, with five minutes of clock skew.
    private static func checkTimes(of token: CompactToken, now: Int64) throws(GrantRefusal) {
        guard let issuedAt = token.seconds("iat"), let expires = token.seconds("exp"), expires > issuedAt,
            expires > now, expires - 3600 <= issuedAt, issuedAt <= now + 300
        else {
            throw GrantRefusal(
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim.")
        }
    }
}
