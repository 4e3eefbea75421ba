import Crypto
import HTTPTypes

/// What only APNs has: push certificates and signing keys, and the faults of its connections.
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

    /// Answers a new signing key: of the same team, or of another, whose own topics it may be used for.
    func makeKey(_ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["team_id", "environment", "topics"])
        let team = try fields.optionalText("team_id") ?? SimulatorCredentials.teamID
        guard team.utf8.count == 10, team.utf8.allSatisfy(Self.isIdentifierByte) else {
            throw .request(
                "\"team_id\" is \"\(team)\"", hint: "team ids have ten capital letters and digits; left out it is the app's team")
        }
        let topics = try fields.optionalTexts("topics").map { Set($0) }
        let made = site.makeKey(team: team, environment: try fields.optionalEnvironment("environment"), topics: topics)
        return answer(
            201,
            json: JSONValue(members: [
                "team_id": .string(team), "key_id": .string(made.id), "private_key": .string(made.key.pemRepresentation),
            ]))
    }

    /// Tokens of the key are `InvalidProviderToken` from now on.
    func revokeKey(_ id: String) throws(ControlRefusal) -> Answer {
        guard site.revokeKey(id) else {
            throw ControlRefusal(
                404, "simulator.path", "there is no key \"\(id)\"", hint: "GET /credentials names the first; POST /keys makes others")
        }
        return answer(200, json: JSONValue(members: ["key_id": .string(id)]))
    }

    private static func isIdentifierByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Nil for a method that there is not.
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
            name, hint: "every so many \(what)s one is hit; left out it stays, and DELETE /connections ends all")
    }

    /// What is not named stays as it is.
    private func plan(_ fields: JSONObject) throws(ControlRefusal) {
        try fields.check(allowing: ["service", "latency_ms", "reset_every", "reset_connections_every", "goaway_every", "stall_every"])
        let platform = try fields.optionalText("service").map { word throws(ControlRefusal) in try service(word) }
        let latency = try fields.optionalNumber("latency_ms", from: 0, hint: "it is milliseconds; 0 is none, and left out it stays")
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
