package import PushModel

/// Every way in which WNS reports a failed delivery ("Push notification service request and response headers": response codes and
/// `X-WNS-Status`). WNS sends no reason strings, so the names are this project's own.
package enum WNSReason: String, ServiceReason {
    case dropped
    case deviceDisconnected = "disconnected"
    case channelThrottled = "channelthrottled"
    case badRequest = "BadRequest"
    case unauthorized = "Unauthorized"
    case forbidden = "Forbidden"
    case channelNotFound = "ChannelNotFound"
    case methodNotAllowed = "MethodNotAllowed"
    case throttled = "Throttled"
    case channelExpired = "ChannelExpired"
    case domainBlocked = "DomainBlocked"
    case payloadTooLarge = "PayloadTooLarge"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"

    /// The status that Microsoft documents for it.
    package var status: Int {
        switch self {
        case .dropped, .deviceDisconnected, .channelThrottled: 200
        case .badRequest: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .channelNotFound: 404
        case .methodNotAllowed: 405
        case .throttled: 406
        case .channelExpired, .domainBlocked: 410
        case .payloadTooLarge: 413
        case .internalServerError: 500
        case .serviceUnavailable: 503
        }
    }

    package var outcome: OutcomeName {
        switch self {
        case .dropped: .dropped
        case .deviceDisconnected: .channelDisconnected
        case .channelThrottled: .channelThrottled
        case .badRequest, .methodNotAllowed: .pnsInterfaceError
        case .unauthorized, .domainBlocked: .invalidCredentials
        case .forbidden: .wrongToken
        case .channelNotFound: .badChannel
        case .throttled: .throttled
        case .channelExpired: .expiredChannel
        case .payloadTooLarge: .invalidNotificationSize
        case .internalServerError: .pnsServerError
        case .serviceUnavailable: .pnsUnavailable
        }
    }

    package var isHandleInvalid: Bool { self == .channelNotFound || self == .channelExpired }

    package var texts: (meaning: String, advice: String?) {
        switch self {
        case .dropped: ("WNS accepted the notification and dropped it: the app or its user does not want it", nil)
        case .deviceDisconnected: ("the device is not connected and WNS did not store the notification", "send with a cache policy")
        case .channelThrottled: ("too many notifications for this channel", "slow down for this device")
        case .badRequest: ("a header is missing, repeated or invalid for the type", "correct the X-WNS-* headers")
        case .unauthorized: ("WNS rejected the access token", "check package SID and client secret")
        case .forbidden: ("the channel belongs to another app", "check the package SID in the settings")
        case .channelNotFound: ("unknown channel", "the registration is removed until the app registers again")
        case .methodNotAllowed: ("WNS accepts only POST", nil)
        case .throttled: ("this app sends too many notifications", "slow down")
        case .channelExpired: ("the channel has expired", "the registration is removed until the app registers again")
        case .domainBlocked: ("Microsoft has blocked this sender", "stop sending and contact its support")
        case .payloadTooLarge: ("the payload is over the limit of 5,000 bytes", "shorten it")
        case .internalServerError: ("WNS had an internal error", "try again later")
        case .serviceUnavailable: ("WNS is unavailable", "try again later")
        }
    }

    var retry: RetryAdvice {
        switch self {
        case .unauthorized: .withNewCredential
        case .channelThrottled, .throttled, .internalServerError, .serviceUnavailable: .later()
        default: .never
        }
    }
}
