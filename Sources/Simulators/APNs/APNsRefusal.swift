/// The rejection of a request by APNs.
struct APNsRefusal: Error {
    var reason: APNsReason
    /// When APNs learned that the token is invalid, in milliseconds since 1970; only with status 410.
    var timestamp: Int64?
    /// Seconds for `Retry-After`, which APNs rarely sends.
    var retryAfter: Int?
    /// A reason of the lab, which no push service has.
    private var ownWord: String?

    /// The lab has reached its limit of phones or memory.
    static var labFull: APNsRefusal {
        var refusal = APNsRefusal(.serviceUnavailable)
        refusal.ownWord = LabFull.reason
        return refusal
    }

    var status: Int { ownWord == nil ? reason.status : LabFull.status }

    init(_ reason: APNsReason, timestamp: Int64? = nil) {
        self.reason = reason
        self.timestamp = timestamp
    }

    /// `{"reason":"…"}`, with `timestamp` for invalid tokens.
    var body: JSONValue {
        var members = [JSONValue.Member(name: "reason", value: .string(ownWord ?? reason.rawValue))]
        if let timestamp { members.append(.init(name: "timestamp", value: .number(String(timestamp)))) }
        return .object(members)
    }
}
