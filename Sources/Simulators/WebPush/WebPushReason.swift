/// The reason why the service rejects a message (RFC 8030, RFC 8292; Mozilla, autopush's "Error Codes"). The services share only the
/// statuses; the names are this project's own.
package enum WebPushReason: String, RefusalReason {
    case badRequest = "BadRequest"
    /// The VAPID token is missing or invalid.
    case unauthorized = "Unauthorized"
    /// The VAPID key is not the one that the web app subscribed with.
    case forbidden = "Forbidden"
    /// Not an endpoint of this service.
    case notFound = "NotFound"
    case methodNotAllowed = "MethodNotAllowed"
    /// The subscription has ended.
    case subscriptionExpired = "Gone"
    /// More than 4096 bytes.
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case badGateway = "BadGateway"
    case serviceUnavailable = "ServiceUnavailable"

    /// The HTTP status.
    package var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .subscriptionExpired: 410
        case .payloadTooLarge: 413
        case .tooManyRequests: 429
        case .internalServerError: 500
        case .badGateway: 502
        case .serviceUnavailable: 503
        }
    }

    /// The names, then the statuses, which are the service's own words.
    package static var words: [String] { allCases.map(\.rawValue) + allCases.map { String($0.status) } }

    package init?(word: String) {
        guard let reason = Self.allCases.first(where: { $0.rawValue == word || String($0.status) == word }) else {
            return nil
        }
        self = reason
    }
}
