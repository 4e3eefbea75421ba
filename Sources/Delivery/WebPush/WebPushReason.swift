package import PushModel

/// Every way in which a push service rejects a message (RFC 8030, RFC 8292, autopush's "Error Codes"). The services share statuses but not
/// reason strings, so the names are this project's own.
package enum WebPushReason: String, ServiceReason {
    case badRequest = "BadRequest"
    case unauthorized = "Unauthorized"
    case forbidden = "Forbidden"
    case notFound = "NotFound"
    case methodNotAllowed = "MethodNotAllowed"
    /// The status of WNS (Edge's push service) where others use 429.
    case notAcceptable = "NotAcceptable"
    case subscriptionExpired = "Gone"
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
        case .subscriptionExpired: 410
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
        case .subscriptionExpired: .expiredChannel
        case .payloadTooLarge: .invalidNotificationSize
        case .internalServerError, .badGateway: .pnsServerError
        case .serviceUnavailable, .gatewayTimeout: .pnsUnavailable
        }
    }

    /// Whether the VAPID token was rejected. The status does not say whether one subscription or the key is at fault: FCM answers 403 for a
    /// subscription made with another key, autopush 401 with the `errno` of an invalid token, Apple 403 for both.
    package var isAboutToken: Bool { self == .unauthorized || self == .forbidden }

    /// The likely cause if most subscriptions get this reason; `nil` if nothing follows from it.
    var wrongEnvironment: String? {
        isAboutToken
            ? "most subscriptions reject the VAPID token: they were made with another VAPID key, or the token is invalid; use the key pair "
                + "that the web app subscribes with, and check the subject and this machine's clock" : nil
    }

    /// Whether the subscription has ended. RFC 8030 uses 404 (section 7.3); the services in use send 410.
    package var isHandleInvalid: Bool { self == .notFound || self == .subscriptionExpired }

    var handleFault: HandleFault? {
        isHandleInvalid ? .invalid() : wrongEnvironment.map { .wrongEnvironment(advice: $0) }
    }

    var retry: RetryAdvice {
        switch self {
        case .notAcceptable, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout:
            .later()
        default: .never
        }
    }

    package var texts: (meaning: String, advice: String?) {
        switch self {
        case .badRequest: ("a header or the encryption is missing or invalid", "correct TTL, Urgency or Topic")
        case .unauthorized:
            (
                "the VAPID token was rejected, or the subscription was made with another VAPID key",
                "check subject, key pair, and that this machine's clock is right"
            )
        case .forbidden:
            (
                "the subscription was made with another VAPID key, or the token was rejected",
                "use the key pair that the web app subscribes with"
            )
        case .notFound: ("unknown subscription", "the registration is removed until the web app subscribes again")
        case .methodNotAllowed: ("the push service accepts only POST", nil)
        case .notAcceptable, .tooManyRequests: ("too many messages to this browser or from this sender", "slow down")
        case .subscriptionExpired: ("the subscription has ended", "the registration is removed until the web app subscribes again")
        case .payloadTooLarge: ("the message is over the limit of 4,096 encrypted bytes", "shorten it")
        case .internalServerError: ("the push service had an internal error", "try again later")
        case .badGateway: ("the push service could not forward the message", "try again later")
        case .serviceUnavailable: ("the push service is unavailable", "try again later")
        case .gatewayTimeout: ("the push service did not answer in time", "try again later")
        }
    }
}
