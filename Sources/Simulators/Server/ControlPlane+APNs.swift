import Crypto
import HTTPTypes

/// The control plane for APNs: push certificates, signing keys and connection faults.
extension ControlPlane {
    /// The server certificate for clients to trust, as a PEM file.
    var serverCertificate: Answer { Self.file(certificate ?? "") }

    private static func file(_ text: String) -> Answer {
        var fields = HTTPFields()
        fields.add("content-type", "application/x-pem-file")
        return (HTTPResponse(status: .ok, headerFields: fields), Array(text.utf8))
    }

    /// A new push certificate of the app for both environments, with its key, as one PEM file.
    var pushCertificate: Answer {
        get throws(ControlRefusal) {
            let issued = try issued([SimulatorCredentials.app], environment: nil, lifetime: nil)
            return Self.file(issued.certificate + issued.key)
        }
    }

    /// Issues a push certificate, also an invalid one for tests.
    func issueCertificate(_ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["topics", "environment", "expires_in"])
        let issued = try issued(
            try fields.optionalTexts("topics") ?? [SimulatorCredentials.app],
            environment: try fields.optionalEnvironment("environment"), lifetime: try fields.optionalSeconds("expires_in"))
        return answer(
            201, json: JSONValue(members: ["certificate": .string(issued.certificate), "private_key": .string(issued.key)]))
    }

    /// - Parameter lifetime: Seconds from now; `nil` for a year.
    private func issued(
        _ topics: [String], environment: APNsEnvironment?, lifetime: Int64?
    ) throws(ControlRefusal) -> (certificate: String, key: String) {
        let now = site.clock.seconds
        var order = APNsCertificateAuthority.Order(topics: topics, from: now - 86_400, until: now + (lifetime ?? 365 * 86_400))
        if let environment { order.environments = [environment] }
        guard order.until >= order.from, let issued = site.credentials.apnsAuthority.issue(order) else {
            throw .request(
                "the certificate cannot be created",
                hint: "give bundle ids as topics, with their suffixes if any")
        }
        return issued
    }

    /// Creates a signing key, of the app's team or of another one; `topics` restricts its use.
    func makeKey(_ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["team_id", "environment", "topics"])
        let team = try fields.optionalText("team_id") ?? SimulatorCredentials.teamID
        guard team.utf8.count == 10, team.utf8.allSatisfy(Self.isIdentifierByte) else {
            throw .request(
                "invalid \"team_id\" \"\(team)\"", hint: "use ten capital letters and digits; omit it for the app's team")
        }
        let topics = try fields.optionalTexts("topics").map { Set($0) }
        let made = site.makeKey(team: team, environment: try fields.optionalEnvironment("environment"), topics: topics)
        return answer(
            201,
            json: JSONValue(members: [
                "team_id": .string(team), "key_id": .string(made.id), "private_key": .string(made.key.pemRepresentation),
            ]))
    }

    /// Revokes a signing key: its tokens are `InvalidProviderToken` from now on.
    func revokeKey(_ id: String) throws(ControlRefusal) -> Answer {
        guard site.revokeKey(id) else {
            throw ControlRefusal(
                404, "simulator.path", "unknown key \"\(id)\"", hint: "GET /credentials shows the first key; POST /keys creates others")
        }
        return answer(200, json: JSONValue(members: ["key_id": .string(id)]))
    }

    private static func isIdentifierByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Returns `nil` for an unsupported method.
    func connections(_ method: HTTPRequest.Method, body: [UInt8]) throws(ControlRefusal) -> Answer? {
        switch method {
        case .get: break
        case .delete: connections.clear()
        case .post: try plan(JSONObject(body))
        default: return nil
        }
        let (own, counts) = (connections.own, connections.counts)
        let services = PhonePlatform.allCases.compactMap { platform in
            own[platform].map { JSONValue.Member(name: platform.rawValue, value: .object(Self.members(of: $0))) }
        }
        let numbers = JSONValue(members: [
            "services": .object(services), "connections": Self.number(counts.connections), "open": Self.number(counts.open),
            "requests": Self.number(counts.requests),
        ])
        return answer(200, json: .object(Self.members(of: connections.plan) + (numbers.members ?? [])))
    }

    private static func members(of plan: ConnectionFaults.Plan) -> [JSONValue.Member] {
        let numbers = [
            ("latency_ms", plan.latency), ("reset_every", plan.resetEvery), ("reset_connections_every", plan.resetConnectionsEvery),
            ("goaway_every", plan.goAwayEvery), ("stall_every", plan.stallEvery),
        ]
        return numbers.map { .init(name: $0.0, value: number($0.1)) }
    }

    private static func interval(_ name: String, in fields: JSONObject) throws(ControlRefusal) -> Int? {
        let what = name.hasPrefix("reset_connections") ? "connection" : "request"
        return try fields.optionalNumber(
            name, hint: "every n-th \(what) is affected; omit it to keep the value, and use DELETE /connections to remove all faults")
    }

    /// Changes the fault plan; absent fields keep their values.
    private func plan(_ fields: JSONObject) throws(ControlRefusal) {
        try fields.check(allowing: ["service", "latency_ms", "reset_every", "reset_connections_every", "goaway_every", "stall_every"])
        let platform = try fields.optionalText("service").map { word throws(ControlRefusal) in try service(word) }
        let latency = try fields.optionalNumber("latency_ms", from: 0, hint: "give milliseconds, 0 for no delay; omit it to keep the value")
        let reset = try Self.interval("reset_every", in: fields)
        let resetConnections = try Self.interval("reset_connections_every", in: fields)
        let goAway = try Self.interval("goaway_every", in: fields)
        let stall = try Self.interval("stall_every", in: fields)
        connections.change(platform) { plan in
            plan.latency = latency ?? plan.latency
            plan.resetEvery = reset ?? plan.resetEvery
            plan.resetConnectionsEvery = resetConnections ?? plan.resetConnectionsEvery
            plan.goAwayEvery = goAway ?? plan.goAwayEvery
            plan.stallEvery = stall ?? plan.stallEvery
        }
    }
}
