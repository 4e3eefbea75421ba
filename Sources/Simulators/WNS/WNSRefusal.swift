/// The rejection of a notification by WNS.
struct WNSRefusal: Error {
    var reason: WNSReason
    /// The text of `X-WNS-Error-Description`.
    var description: String
    /// Seconds.
    var retryAfter: Int?

    private var isOfLab = false

    /// - Parameter retryAfter: Seconds, instead of the reason's default.
    init(_ reason: WNSReason, retryAfter: Int? = nil) {
        self.init(reason, reason.description)
        self.retryAfter = retryAfter ?? (reason.allowsRetryAfter ? 60 : nil)
    }

    private init(_ reason: WNSReason, _ description: String) {
        self.reason = reason
        self.description = description
    }

    /// The lab has reached its limit of phones or memory.
    static var labFull: WNSRefusal {
        var refusal = WNSRefusal(.unavailable, LabFull.message)
        refusal.isOfLab = true
        return refusal
    }

    var status: Int { isOfLab ? LabFull.status : reason.status }

    static func badRequest(_ what: String) -> WNSRefusal { WNSRefusal(.badRequest, what) }
}

extension WNSReason {
    /// The reason of a response other than 200; `nil` if none has this status.
    init?(status: Int, description: String?) {
        let reasons = Self.allCases.filter { $0.status == status }
        guard let reason = reasons.first(where: { $0.description == description }) ?? reasons.first else { return nil }
        self = reason
    }

    fileprivate var description: String {
        switch self {
        case .dropped, .disconnected, .channelThrottled: ""
        case .badRequest: "One or more headers are specified incorrectly or conflict with another header"
        case .unauthorized: "The cloud service did not present a valid authentication ticket"
        case .forbidden: "The cloud service is not authorized to send a notification to this URI"
        case .notFound: "The channel URI is not valid or is not recognized by WNS"
        case .methodNotAllowed: "Invalid method; only POST is allowed"
        case .throttled: "The cloud service exceeded its throttle limit"
        case .channelExpired: "The channel expired"
        case .domainBlocked: "The domain of the cloud service is blocked"
        case .tooLarge: "The notification payload exceeds the 5000 byte size limit"
        case .internalError: "An internal failure caused notification delivery to fail"
        case .unavailable: "The server is currently unavailable"
        }
    }
}
