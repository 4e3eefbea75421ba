import HTTPTypes

/// What only APNs has: push certificates, and the faults of its connections.
extension ControlPlane {
    /// What clients are to trust, as a file.
    var serverCertificate: Answer { Self.file(certificate ?? "") }

    private static func file(_ text: String) -> Answer {
        var fields = HTTPFields()
        fields.add("content-type", "application/x-pem-file")
        return (HTTPResponse(status: .ok, headerFields: fields), Array(text.utf8))
    }

    /// A new push certificate of the app for both environments and its key, as one file.
    var pushCertificate: Answer {
        get throws(ControlRefusal) {
            let issued = try issued([SimulatorCredentials.app], environment: nil, lifetime: nil)
            return Self.file(issued.certificate + issued.key)
        }
    }

    /// Answers a new push certificate, as the developer's portal would, and as it would not.
    func issueCertificate(_ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["topics", "environment", "expires_in"])
        let issued = try issued(
            try fields.optionalTexts("topics") ?? [SimulatorCredentials.app],
            environment: try fields.optionalEnvironment("environment"), lifetime: try fields.optionalSeconds("expires_in"))
        return answer(
            201, json: JSONValue(members: ["certificate": .string(issued.certificate), "private_key": .string(issued.key)]))
    }

    /// - Parameter lifetime: Seconds from now, a year for nil.
    private func issued(
        _ topics: [String], environment: APNsEnvironment?, lifetime: Int64?
    ) throws(ControlRefusal) -> (certificate: String, key: String) {
        let now = site.clock.seconds
        var order = APNsAuthority.Order(topics: topics, from: now - 86_400, until: now + (lifetime ?? 365 * 86_400))
        if let environment { order.environments = [environment] }
        guard order.until >= order.from, let issued = site.credentials.apnsAuthority.issue(order) else {
            throw .request("no certificate can say that", hint: "topics are bundle ids, with suffixes where they have some")
        }
        return issued
    }

    /// Nil for a method that there is not.
    func connections(_ method: HTTPRequest.Method, body: [UInt8]) throws(ControlRefusal) -> Answer? {
        switch method {
        case .get: break
        case .delete: connections.change { $0 = ConnectionFaults.Plan() }
        case .post: try plan(JSONObject(body))
        default: return nil
        }
        let (plan, counts) = (connections.plan, connections.counts)
        return answer(
            200,
            json: JSONValue(members: [
                "latency_ms": Self.number(plan.latency), "reset_every": Self.number(plan.resetEvery),
                "reset_connections_every": Self.number(plan.resetConnectionsEvery), "goaway_every": Self.number(plan.goAwayEvery),
                "stall_every": Self.number(plan.stallEvery), "connections": Self.number(counts.connections),
                "open": Self.number(counts.open), "requests": Self.number(counts.requests),
            ]))
    }

    /// What is not named stays as it is.
    private func plan(_ fields: JSONObject) throws(ControlRefusal) {
        try fields.check(allowing: ["latency_ms", "reset_every", "reset_connections_every", "goaway_every", "stall_every"])
        let latency = try fields.optionalCount("latency_ms")
        let reset = try fields.optionalCount("reset_every")
        let resetConnections = try fields.optionalCount("reset_connections_every")
        let goAway = try fields.optionalCount("goaway_every")
        let stall = try fields.optionalCount("stall_every")
        connections.change { plan in
            plan.latency = latency ?? plan.latency
            plan.resetEvery = reset ?? plan.resetEvery
            plan.resetConnectionsEvery = resetConnections ?? plan.resetConnectionsEvery
            plan.goAwayEvery = goAway ?? plan.goAwayEvery
            plan.stallEvery = stall ?? plan.stallEvery
        }
    }
}
