import PushCore

/// Every way in which a push service refuses a message (RFC 8030, RFC 8292, autopush's "Error Codes"). The services agree
/// on statuses, not on words, so that the names are ours.
package enum WebPushReason: String, CaseIterable, Sendable {
    case badRequest = "BadRequest"
    case unauthorized = "Unauthorized"
    case forbidden = "Forbidden"
    case notFound = "NotFound"
    case methodNotAllowed = "MethodNotAllowed"
    /// What WNS answers behind Edge's endpoints where others answer 429.
    case notAcceptable = "NotAcceptable"
    case gone = "Gone"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case badGateway = "BadGateway"
    case serviceUnavailable = "ServiceUnavailable"
    case gatewayTimeout = "GatewayTimeout"

    package var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .notAcceptable: 406
        case .gone: 410
        case .payloadTooLarge: 413
        case .tooManyRequests: 429
        case .internalServerError: 500
        case .badGateway: 502
        case .serviceUnavailable: 503
        case .gatewayTimeout: 504
        }
    }

    package var outcome: OutcomeName {
        switch self {
        case .badRequest, .methodNotAllowed: .pnsInterfaceError
        case .unauthorized, .forbidden: .invalidCredentials
        case .notFound: .badChannel
        case .notAcceptable, .tooManyRequests: .throttled
        case .gone: .expiredChannel
        case .payloadTooLarge: .invalidNotificationSize
        case .internalServerError, .badGateway: .pnsServerError
        case .serviceUnavailable, .gatewayTimeout: .pnsUnavailable
        }
    }

    /// RFC 8030 says 404 of an expired subscription (section 7.3); the services in use say 410.
    package var isHandleDead: Bool { self == .notFound || self == .gone }

    var retry: RetryAdvice {
        switch self {
        case .notAcceptable, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout:
            .later()
        default: .never
        }
    }
}
