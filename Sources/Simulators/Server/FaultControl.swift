/// The paths of the control plane for faults of one service: rejected notifications, rejected token requests, and revoked access tokens.
struct FaultControl {
    let platform: PhonePlatform
    let site: SimulatedSite

    /// Adds a fault.
    func add(_ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["reason", "count", "handle", "share", "retry_after", "at"])
        let reason = try fields.text("reason")
        let count = try fields.optionalNumber("count", hint: "omit it for all until DELETE /faults")
        let share = try fields.optionalShare("share")
        let pause = try fields.optionalNumber(
            "retry_after", from: 0, hint: "give seconds for Retry-After; omit it for the service's default")
        var handle = try fields.optionalText("handle")
        if platform == .apns { handle = handle?.lowercased() }
        let isOfTokens = try isOfTokens(fields)
        let service = site[platform]
        let acceptsRetryAfter = isOfTokens ? service.grantAllowsRetryAfter(reason) : service.allowsRetryAfter(reason)
        let words = isOfTokens ? service.grantReasons : service.reasons
        guard !isOfTokens || handle == nil else {
            throw .request("\"handle\" is not supported for token requests", hint: "omit it")
        }
        if pause != nil, words.contains(reason), !acceptsRetryAfter {
            throw .request("\(platform.rawValue) sends no Retry-After with \"\(reason)\"", hint: "omit \"retry_after\"")
        }
        let isOrdered =
            isOfTokens
            ? service.failGrants(reason, count: count, share: share ?? 1, retryAfter: pause)
            : service.fail(reason, count: count, handle: handle, share: share ?? 1, retryAfter: pause)
        guard isOrdered else {
            let what = isOfTokens ? "the token endpoint of \(platform.rawValue)" : platform.rawValue
            throw ControlRefusal(
                400, "simulator.reason", "unknown reason \"\(reason)\" for \(what)",
                hint: words.isEmpty
                    ? "\(platform.rawValue) has no token endpoint: omit \"at\"" : "use one of \(words.joined(separator: ", "))")
        }
        let members = Self.members(of: reason, count: count, handle: handle, share: share, pause: pause, isOfTokens: isOfTokens)
        return answer(200, json: .object([.init(name: "service", value: .string(platform.rawValue))] + members))
    }

    /// The fault as members of the response, named as in the request.
    fileprivate static func members(
        of reason: String, count: Int?, handle: String?, share: Double?, pause: Int?, isOfTokens: Bool
    ) -> [JSONValue.Member] {
        [
            .init(name: "reason", value: .string(reason)), .init(name: "count", value: .init(number: count)),
            .init(name: "handle", value: .init(handle)), .init(name: "share", value: share.map { .number(String($0)) } ?? .null),
            .init(name: "retry_after", value: .init(number: pause)), .init(name: "at", value: .string(isOfTokens ? "token" : "send")),
        ]
    }

    /// Lists the active faults, oldest first, notifications before access tokens; `count` is the remaining number.
    var active: Answer {
        let faults = site[platform].activeFaults
        return answer(200, json: JSONValue(members: ["service": .string(platform.rawValue), "faults": .array(faults)]))
    }

    private func isOfTokens(_ fields: JSONObject) throws(ControlRefusal) -> Bool {
        switch try fields.optionalText("at") {
        case nil, "send": return false
        case "token": return true
        case let word?:
            throw .request("invalid \"at\" \"\(word)\"", hint: "use send for notifications, or token for the token endpoint")
        }
    }

    func clear() -> Answer {
        site[platform].clearFaults()
        return answer(200, json: JSONValue(members: ["service": .string(platform.rawValue), "reason": .null]))
    }

    /// Invalidates all issued access tokens, as if they had expired.
    func revokeTokens() throws(ControlRefusal) -> Answer {
        guard site.revokeAccessTokens(platform) else {
            throw ControlRefusal(
                404, "simulator.path", "\(platform.rawValue) issues no access tokens", hint: "use fcm or wns")
        }
        return answer(200, json: JSONValue(members: ["service": .string(platform.rawValue)]))
    }
}

extension RefusingService {
    fileprivate var activeFaults: [JSONValue] {
        Self.orders(faults, isOfTokens: false) + (grantFaults.map { Self.orders($0, isOfTokens: true) } ?? [])
    }

    private static func orders(_ script: FaultInjector<some RefusalReason>, isOfTokens: Bool) -> [JSONValue] {
        script.active.map { fault in
            .object(
                FaultControl.members(
                    of: fault.reason.rawValue, count: fault.left, handle: fault.handle, share: fault.share < 1 ? fault.share : nil,
                    pause: fault.retryAfter, isOfTokens: isOfTokens))
        }
    }
}
