/// The reason why WNS does not deliver a notification (Microsoft, "Push notification service request and response headers"). WNS sends only
/// statuses; the names are this project's own, except those of `X-WNS-Status`.
package enum WNSReason: String, RefusalReason {
    /// 200, with `X-WNS-Status: dropped`.
    case dropped
    /// Dropped because the device is not connected.
    case disconnected
    /// 200: too many notifications for the channel.
    case channelThrottled = "channelthrottled"
    /// A header is missing, wrong or conflicts with another one.
    case badRequest = "BadRequest"
    /// The access token is missing, unknown or expired.
    case unauthorized = "Unauthorized"
    /// The access token belongs to another app than the channel.
    case forbidden = "Forbidden"
    /// Not a channel of WNS.
    case notFound = "ChannelNotFound"
    /// Neither POST nor, for phones, DELETE.
    case methodNotAllowed = "MethodNotAllowed"
    /// The app sends too much.
    case throttled = "Throttled"
    /// The channel has expired.
    case channelExpired = "ChannelExpired"
    /// The sender is blocked.
    case domainBlocked = "DomainBlocked"
    /// More than 5000 bytes.
    case tooLarge = "PayloadTooLarge"
    case internalError = "InternalServerError"
    case unavailable = "ServiceUnavailable"

    /// WNS uses 406 instead of 429.
    package var allowsRetryAfter: Bool { [406, 503].contains(status) }

    /// The HTTP status.
    package var status: Int {
        switch self {
        case .dropped, .disconnected, .channelThrottled: 200
        case .badRequest: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .throttled: 406
        case .channelExpired, .domainBlocked: 410
        case .tooLarge: 413
        case .internalError: 500
        case .unavailable: 503
        }
    }
}
