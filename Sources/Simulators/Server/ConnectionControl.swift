import HTTPTypes

/// The path of the control plane for faults of TLS connections.
struct ConnectionControl {
    let faults: ConnectionFaults

    /// Returns `nil` for an unsupported method.
    func respond(_ method: HTTPRequest.Method, body: [UInt8]) throws(ControlRefusal) -> Answer? {
        switch method {
        case .get: break
        case .delete: faults.clear()
        case .post: try plan(JSONObject(body))
        default: return nil
        }
        let (own, counts) = (faults.own, faults.counts)
        let services = PhonePlatform.allCases.compactMap { platform in
            own[platform].map { JSONValue.Member(name: platform.rawValue, value: .object(Self.members(of: $0))) }
        }
        let numbers = JSONValue(members: [
            "services": .object(services), "connections": .init(number: counts.connections), "open": .init(number: counts.open),
            "requests": .init(number: counts.requests),
        ])
        return answer(200, json: .object(Self.members(of: faults.plan) + (numbers.members ?? [])))
    }

    private static func members(of plan: ConnectionFaults.Plan) -> [JSONValue.Member] {
        let numbers = [
            ("latency_ms", plan.latency), ("reset_every", plan.resetEvery), ("reset_connections_every", plan.resetConnectionsEvery),
            ("goaway_every", plan.goAwayEvery), ("stall_every", plan.stallEvery),
        ]
        return numbers.map { .init(name: $0.0, value: .init(number: $0.1)) }
    }

    private static func interval(_ name: String, in fields: JSONObject) throws(ControlRefusal) -> Int? {
        let what = name.hasPrefix("reset_connections") ? "connection" : "request"
        return try fields.optionalNumber(
            name, hint: "every n-th \(what) is affected; omit it to keep the value, and use DELETE /connections to remove all faults")
    }

    /// Changes the fault plan; absent fields keep their values.
    private func plan(_ fields: JSONObject) throws(ControlRefusal) {
        try fields.check(allowing: ["service", "latency_ms", "reset_every", "reset_connections_every", "goaway_every", "stall_every"])
        let platform = try fields.optionalText("service").map { word throws(ControlRefusal) in try PhonePlatform(named: word) }
        let latency = try fields.optionalNumber("latency_ms", from: 0, hint: "give milliseconds, 0 for no delay; omit it to keep the value")
        let reset = try Self.interval("reset_every", in: fields)
        let resetConnections = try Self.interval("reset_connections_every", in: fields)
        let goAway = try Self.interval("goaway_every", in: fields)
        let stall = try Self.interval("stall_every", in: fields)
        faults.change(platform) { plan in
            plan.latency = latency ?? plan.latency
            plan.resetEvery = reset ?? plan.resetEvery
            plan.resetConnectionsEvery = resetConnections ?? plan.resetConnectionsEvery
            plan.goAwayEvery = goAway ?? plan.goAwayEvery
            plan.stallEvery = stall ?? plan.stallEvery
        }
    }
}
