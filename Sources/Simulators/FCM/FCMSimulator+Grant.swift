import HTTPTypes
import Synchronization

/// The token endpoint: issues access tokens for signed assertions (RFC 7523 section 2.1; Google, "Using OAuth 2.0 for server to server
/// applications").
extension FCMSimulator {
    private struct Failure: Error {
        var error: String
        var description: String

        init(_ error: String, _ description: String) {
            self.error = error
            self.description = description
        }
    }

    private static let lifetime: Int64 = 3599
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// Returns `{"access_token","expires_in":3599,"token_type":"Bearer"}`, or 400 with `error` and `error_description` (RFC 6749 section
    /// 5.2).
    func grant(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        guard request.method == .post else { return (HTTPResponse(status: .methodNotAllowed), []) }
        do {
            let scopes = try checkedScopes(FormBody(body), contentType: request.headerFields.first("content-type"))
            if let fault = grantFaults?.next(for: nil) { return fault.reason.answer(retryAfter: fault.retryAfter) }
            let token = "ya29.c." + random.base64URL(96)
            let now = clock.now()
            state.withLock { state in
                state.grants = state.grants.filter { $0.value.expiresAt > now }
                state.grants[token] = FCMGrant(expiresAt: now + Self.lifetime * 1000, scopes: scopes)
            }
            return answer(
                200,
                json: JSONValue(members: [
                    "access_token": .string(token), "expires_in": .number(String(Self.lifetime)),
                    "token_type": .string("Bearer"),
                ]))
        } catch {
            return answer(
                400,
                json: JSONValue(members: [
                    "error": .string(error.error), "error_description": .string(error.description),
                ]))
        }
    }

    private func checkedScopes(_ form: FormBody, contentType: String?) throws(Failure) -> [String] {
        guard FormBody.isContentType(contentType) else {
            throw Failure("invalid_request", "The body must be a form.")
        }
        guard let grantType = form["grant_type"] else {
            throw Failure("invalid_request", "Required parameter is missing: grant_type")
        }
        guard grantType == Self.grantType else {
            throw Failure("unsupported_grant_type", "Invalid grant_type: \(grantType)")
        }
        guard let assertion = form["assertion"] else {
            throw Failure("invalid_request", "Required parameter is missing: assertion")
        }
        guard let token = CompactToken(assertion) else {
            throw Failure("invalid_grant", "Invalid JWT: Failed to parse the assertion.")
        }
        let settings = state.withLock { $0.settings }
        guard token.issuer == settings.clientEmail else {
            throw Failure("invalid_grant", "Invalid grant: account not found")
        }
        guard let key = token.keyID.flatMap({ settings.keys[$0] }), token.isSigned(by: key) else {
            throw Failure("invalid_grant", "Invalid JWT Signature.")
        }
        guard token.isFor(settings.audiences.contains) else {
            throw Failure("invalid_grant", "Invalid JWT: Failed audience check.")
        }
        try checkTimes(of: token)
        let scopes = (token.claims["scope"]?.string ?? "").split(separator: " ").map { String($0) }
        guard !scopes.isEmpty, scopes.allSatisfy({ $0.hasPrefix("https://www.googleapis.com/auth/") }) else {
            throw Failure("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        }
        return scopes
    }

    /// Checks that the assertion lasts at most an hour, has not expired and is not from the future, with five minutes of clock skew.
    private func checkTimes(of token: CompactToken) throws(Failure) {
        let now = clock.seconds
        guard let issuedAt = token.seconds("iat"), let expires = token.seconds("exp"), expires > issuedAt,
            expires > now, expires - 3600 <= issuedAt, issuedAt <= now + 300
        else {
            throw Failure(
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim.")
        }
    }
}
