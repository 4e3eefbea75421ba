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

    /// Whether the VAPID token does not suit the subscription. The status does not tell whose fault that is: FCM answers 403 for a
    /// subscription that was made with another key, autopush 401 with the `errno` of a token that is bad for all, Apple 403 for both.
    package var isAboutToken: Bool { self == .unauthorized || self == .forbidden }

    /// What it means if most subscriptions are answered so; nil where nothing follows from it.
    var mixUp: String? {
        isAboutToken
            ? "most subscriptions refuse the VAPID token: they were made with another VAPID key, or the token is refused; use the key pair "
                + "that the web app subscribes with, and check the subject and this machine's clock" : nil
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
