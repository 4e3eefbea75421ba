/// Why WNS refused a notification (Microsoft, "Push notification service request and response headers").
package enum WNSReason: Sendable, Equatable {
    /// 400: a header is missing, wrong or conflicts with another one.
    case badRequest(String)
    /// 401: the access token is missing, unknown or expired.
    case unauthorized
    /// 403: the access token belongs to another app than the channel.
    case forbidden
    /// 404: not a channel that WNS gave out.
    case notFound
    /// 405: neither POST nor, for phones, DELETE.
    case methodNotAllowed
    /// 406: the app sends too much.
    case throttled
    /// 410: the channel has expired.
    case gone
    /// 413: more than 5000 bytes.
    case tooLarge
    case internalError
    case unavailable

    /// The HTTP status.
    package var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .throttled: 406
        case .gone: 410
        case .tooLarge: 413
        case .internalError: 500
        case .unavailable: 503
        }
    }

    /// The text of `X-WNS-Error-Description`.
    var description: String {
        switch self {
        case .badRequest(let what): what
        case .unauthorized: "The cloud service did not present a valid authentication ticket"
        case .forbidden: "The cloud service is not authorized to send a notification to this URI"
        case .notFound: "The channel URI is not valid or is not recognized by WNS"
        case .methodNotAllowed: "Invalid method; only POST is allowed"
        case .throttled: "The cloud service exceeded its throttle limit"
        case .gone: "The channel expired"
        case .tooLarge: "The notification payload exceeds the 5000 byte size limit"
        case .internalError: "An internal failure caused notification delivery to fail"
        case .unavailable: "The server is currently unavailable"
        }
    }
}
