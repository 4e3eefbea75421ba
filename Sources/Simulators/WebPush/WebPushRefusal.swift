import HTTPTypes

/// A rejected message, in the error model of Mozilla's autopush.
struct WebPushRefusal: Error {
    var reason: WebPushReason
    /// Autopush's error number, more specific than the status; `nil` if it has none.
    var errno: Int?
    var message: String
    /// Seconds.
    var retryAfter: Int?
    private var isOfLab = false

    /// - Parameter retryAfter: Seconds, instead of the reason's default.
    init(_ reason: WebPushReason, retryAfter: Int? = nil) {
        self.init(reason, errno: reason.errno, reason.message)
        self.retryAfter = retryAfter ?? reason.pause
    }

    private init(_ reason: WebPushReason, errno: Int?, _ message: String) {
        self.reason = reason
        self.errno = errno
        self.message = message
    }

    /// The lab has reached its limit of phones or memory.
    static var labFull: WebPushRefusal {
        var refusal = WebPushRefusal(.serviceUnavailable, errno: nil, LabFull.message)
        refusal.isOfLab = true
        return refusal
    }

    private var status: Int { isOfLab ? LabFull.status : reason.status }

    static func badHeader(_ errno: Int, _ message: String) -> WebPushRefusal {
        WebPushRefusal(.badRequest, errno: errno, message)
    }

    static func badToken(_ message: String) -> WebPushRefusal {
        WebPushRefusal(.unauthorized, errno: WebPushReason.unauthorized.errno, message)
    }

    /// `{"code","errno","error","message"}`
    var answer: Answer {
        var fields = HTTPFields()
        switch reason {
        case .unauthorized: fields.add("www-authenticate", "vapid")
        case .methodNotAllowed: fields.add("allow", "POST")
        case .subscriptionExpired: fields.add("cache-control", "max-age=86400")
        default: break
        }
        if let retryAfter { fields.add("retry-after", String(retryAfter)) }
        return Simulators.answer(
            status,
            json: JSONValue(members: [
                "code": .number(String(status)), "errno": errno.map { .number(String($0)) } ?? .null,
                "error": .string(isOfLab ? LabFull.reason : reason.phrase), "message": .string(message),
            ]), fields: fields)
    }
}

extension WebPushReason {
    /// Default seconds for `Retry-After`.
    fileprivate var pause: Int? {
        switch self {
        case .tooManyRequests: 60
        case .serviceUnavailable: 120
        default: nil
        }
    }

    fileprivate var errno: Int? {
        switch self {
        case .badRequest: 110
        case .unauthorized, .forbidden: 109
        case .notFound: 102
        case .methodNotAllowed, .tooManyRequests: nil
        case .subscriptionExpired: 106
        case .payloadTooLarge: 104
        case .internalServerError: 999
        case .badGateway: 902
        case .serviceUnavailable: 201
        }
    }

    /// The reason phrase of the status (RFC 9110 section 15).
    fileprivate var phrase: String {
        switch self {
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .subscriptionExpired: "Gone"
        case .payloadTooLarge: "Payload Too Large"
        case .tooManyRequests: "Too Many Requests"
        case .internalServerError: "Internal Server Error"
        case .badGateway: "Bad Gateway"
        case .serviceUnavailable: "Service Unavailable"
        }
    }

    fileprivate var message: String {
        switch self {
        case .badRequest: "Invalid crypto keys specified"
        case .unauthorized: "Invalid authentication"
        case .forbidden: "VAPID public key mismatch"
        case .notFound: "Invalid URL endpoint"
        case .methodNotAllowed: "Only POST is allowed"
        case .subscriptionExpired: "No such subscription"
        case .payloadTooLarge: "Data payload too large: at most 4096 bytes"
        case .tooManyRequests: "Too many messages"
        case .internalServerError: "Unknown error"
        case .badGateway: "Error while connecting to bridge service"
        case .serviceUnavailable: "Service unavailable, use exponential back-off"
        }
    }
}
