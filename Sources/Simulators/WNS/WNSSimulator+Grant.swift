import HTTPTypes
import Synchronization

/// The token endpoint: issues access tokens for package SID and secret (RFC 6749 section 4.4).
extension WNSSimulator {
    /// One day, in seconds.
    private static let lifetime: Int64 = 86400

    /// Returns `{"token_type":"bearer","access_token","expires_in":86400}`, or 400 with `error` and `error_description`.
    func grant(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        guard request.method == .post else { return (HTTPResponse(status: .methodNotAllowed), []) }
        let form = FormBody(body)
        let settings = state.withLock { $0.settings }
        guard FormBody.isContentType(request.headerFields.first("content-type")) else {
            return refusal("invalid_request", "The body must be a form.")
        }
        guard let grantType = form["grant_type"], let scope = form["scope"] else {
            return refusal("invalid_request", "grant_type and scope are required.")
        }
        guard grantType == "client_credentials" else {
            return refusal("unsupported_grant_type", "The provided value for 'grant_type' is not supported.")
        }
        guard form["client_id"] == settings.packageSID, form["client_secret"] == settings.clientSecret else {
            return refusal("invalid_client", "Invalid client id or client secret.")
        }
        guard scope == "notify.windows.com" else {
            return refusal("invalid_scope", "The provided value for 'scope' is not valid.")
        }
        if let fault = grantFaults?.next(for: nil) { return fault.reason.answer(retryAfter: fault.retryAfter) }
        let token = "EgA" + random.base64URL(96)
        let now = clock.now()
        state.withLock { state in
            state.tokens = state.tokens.filter { $0.value.expiresAt > now }
            state.tokens[token] = (settings.packageSID, now + Self.lifetime * 1000)
        }
        return answer(
            200,
            json: JSONValue(members: [
                "token_type": .string("bearer"), "access_token": .string(token),
                "expires_in": .number(String(Self.lifetime)),
            ]))
    }

    private func refusal(_ error: String, _ description: String) -> Answer {
        answer(
            400, json: JSONValue(members: ["error": .string(error), "error_description": .string(description)]))
    }
}
