import HTTPTypes

/// The reason why a token endpoint issues no access token: the `error` of its body (RFC 6749 section 5.2), or a server error in the form of
/// Google and Microsoft.
package enum GrantReason: String, RefusalReason {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"
    case serverError = "server_error"
    case temporarilyUnavailable = "temporarily_unavailable"

    package var status: Int {
        switch self {
        case .invalidRequest, .invalidGrant, .unsupportedGrantType, .invalidScope: 400
        case .invalidClient, .unauthorizedClient: 401
        case .serverError: 500
        case .temporarilyUnavailable: 503
        }
    }

    private var description: String {
        switch self {
        case .invalidRequest: "The request is missing a parameter, or repeats one."
        case .invalidClient: "Client authentication failed."
        case .invalidGrant: "The assertion is invalid, expired or revoked."
        case .unauthorizedClient: "The client is not authorized to use this method."
        case .unsupportedGrantType: "The grant type is not supported."
        case .invalidScope: "The scope is invalid, unknown or malformed."
        case .serverError: "An internal error occurred."
        case .temporarilyUnavailable: "The service is temporarily overloaded."
        }
    }

    /// `{"error", "error_description"}`
    ///
    /// - Parameter retryAfter: Seconds.
    func answer(retryAfter: Int?) -> (response: HTTPResponse, body: [UInt8]) {
        var fields = HTTPFields()
        if let retryAfter { fields.add("retry-after", String(retryAfter)) }
        return Simulators.answer(
            status, json: JSONValue(members: ["error": .string(rawValue), "error_description": .string(description)]), fields: fields)
    }
}
