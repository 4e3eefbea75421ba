/// Refusals to order, for notifications and for access tokens.
extension ControlPlane {
    func fail(_ platform: PhonePlatform, _ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["reason", "count", "handle", "share", "retry_after", "at"])
        let reason = try fields.text("reason")
        let count = try fields.optionalNumber("count", hint: "leave it out for all until DELETE /faults")
        let share = try fields.optionalShare("share")
        let pause = try fields.optionalNumber(
            "retry_after", from: 0, hint: "it is how many seconds the answer names; leave it out for those of the service")
        var handle = try fields.optionalText("handle")
        if platform == .apns { handle = handle?.lowercased() }
        let isOfTokens = try isOfTokens(fields)
        let service = site[platform]
        let mayPause = isOfTokens ? service.grantNamesPause(reason) : service.namesPause(reason)
        let words = isOfTokens ? service.grantReasons : service.reasons
        guard !isOfTokens || handle == nil else {
            throw .request("\"handle\" is of no account where tokens are asked for", hint: "leave it out")
        }
        if pause != nil, words.contains(reason), !mayPause {
            throw .request("with \"\(reason)\" \(platform.rawValue) names no seconds to wait", hint: "leave \"retry_after\" out")
        }
        let isOrdered =
            isOfTokens
            ? service.failGrants(reason, count: count, share: share ?? 1, retryAfter: pause)
            : service.fail(reason, count: count, handle: handle, share: share ?? 1, retryAfter: pause)
        guard isOrdered else {
            let what = isOfTokens ? "the token endpoint of \(platform.rawValue)" : platform.rawValue
            throw ControlRefusal(
                400, "simulator.reason", "\(what) does not refuse with \"\(reason)\"",
                hint: words.isEmpty ? "\(platform.rawValue) has none: leave \"at\" out" : "it says \(words.joined(separator: ", "))")
        }
        let order = Self.order(reason, count: count, handle: handle, share: share, pause: pause, isOfTokens: isOfTokens)
        return answer(200, json: .object([.init(name: "service", value: .string(platform.rawValue))] + order))
    }

    /// In the words in which it is ordered.
    fileprivate static func order(
        _ reason: String, count: Int?, handle: String?, share: Double?, pause: Int?, isOfTokens: Bool
    ) -> [JSONValue.Member] {
        [
            .init(name: "reason", value: .string(reason)), .init(name: "count", value: number(count)),
            .init(name: "handle", value: .init(handle)), .init(name: "share", value: share.map { .number(String($0)) } ?? .null),
            .init(name: "retry_after", value: number(pause)), .init(name: "at", value: .string(isOfTokens ? "token" : "send")),
        ]
    }

    /// What still refuses, oldest first, notifications before access tokens; `count` is how many are left.
    func standingFaults(_ platform: PhonePlatform) -> Answer {
        let faults = site[platform].standingFaults
        return answer(200, json: JSONValue(members: ["service": .string(platform.rawValue), "faults": .array(faults)]))
    }

    private func isOfTokens(_ fields: JSONObject) throws(ControlRefusal) -> Bool {
        switch try fields.optionalText("at") {
        case nil, "send": return false
        case "token": return true
        case let word?:
            throw .request("\"at\" is \"\(word)\"", hint: "it is send, for notifications, or token, where access tokens are given out")
        }
    }

    func clearFaults(_ platform: PhonePlatform) -> Answer {
        site[platform].clearFaults()
        return answer(200, json: JSONValue(members: ["service": .string(platform.rawValue), "reason": .null]))
    }

    /// Makes access tokens bad that were given out, as if they had expired.
    func revokeTokens(_ platform: PhonePlatform) throws(ControlRefusal) -> Answer {
        guard site.revokeAccessTokens(platform) else {
            throw ControlRefusal(
                404, "simulator.path", "\(platform.rawValue) gives out no access tokens", hint: "services that do are fcm and wns")
        }
        return answer(200, json: JSONValue(members: ["service": .string(platform.rawValue)]))
    }
}

extension RefusingService {
    fileprivate var standingFaults: [JSONValue] {
        Self.orders(faults, isOfTokens: false) + (grantFaults.map { Self.orders($0, isOfTokens: true) } ?? [])
    }

    private static func orders(_ script: FaultScript<some RefusalReason>, isOfTokens: Bool) -> [JSONValue] {
        script.standing.map { fault in
            .object(
                ControlPlane.order(
                    fault.reason.rawValue, count: fault.left, handle: fault.handle, share: fault.share < 1 ? fault.share : nil,
                    pause: fault.retryAfter, isOfTokens: isOfTokens))
        }
    }
}
