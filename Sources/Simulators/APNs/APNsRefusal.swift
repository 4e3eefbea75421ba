/// A request that APNs turns down.
struct APNsRefusal: Error {
    var reason: APNsReason
    /// When APNs learned that the token is dead, milliseconds since 1970; only with status 410.
    var timestamp: Int64?
    /// Seconds; APNs names them rarely.
    var retryAfter: Int?
    /// Of the lab, and of no push service.
    private var ownWord: String?

    /// The lab has no room for another phone.
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

    /// `{"reason":"…"}`, with `timestamp` for dead tokens.
    var body: JSONValue {
        var members = [JSONValue.Member(name: "reason", value: .string(ownWord ?? reason.rawValue))]
        if let timestamp { members.append(.init(name: "timestamp", value: .number(String(timestamp)))) }
        return .object(members)
    }
}
