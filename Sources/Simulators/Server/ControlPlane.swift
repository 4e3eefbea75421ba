import HTTPTypes

/// The simulators' HTTP interface for tests and people: returns credentials, manages phones, reads the ledger, injects faults.
struct ControlPlane: Sendable {
    /// The hosts that it answers for.
    static let hosts: Set<String> = ["127.0.0.1", "localhost"]

    /// The first segments of its paths; no push service has such a path.
    private static let firstSegments: Set<Substring> = [
        "health", "credentials", "certificate", "push-certificate", "certificates", "keys", "phones", "crowd", "ledger", "faults",
        "tokens", "connections",
    ]

    let site: SimulatedSite
    let ledger: NotificationLedger
    let connections: ConnectionFaults
    /// The server certificate as PEM; `nil` if nothing is served over TLS.
    var certificate: String?

    /// Whether a path belongs to the control plane, even if it does not exist.
    static func has(_ path: String) -> Bool {
        path.hasPrefix("/") && firstSegments.contains(path.dropFirst().prefix { $0 != "/" && $0 != "?" })
    }

    /// Answers with JSON, or JSON lines for the ledger; errors are `{"code","message","hint"}`.
    func handle(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        do {
            return try route(request, body: body)
        } catch {
            return error.answer
        }
    }

    private func route(_ request: HTTPRequest, body: [UInt8]) throws(ControlRefusal) -> Answer {
        let (place, query) = request.target
        let path = place.split(separator: "/").map { Self.decoded($0) }
        switch (request.method, path.first ?? "", path.count) {
        case (.get, "health", 2) where path[1] == "live": return answer(200, json: JSONValue(members: ["status": .string("live")]))
        case (.get, "credentials", 1): return answer(200, json: site.credentials.json(at: site.phones.address))
        case (.get, "certificate", 1) where certificate != nil: return APNsCredentialControl.file(certificate ?? "")
        case (.get, "push-certificate", 1): return try apnsCredentials.pushCertificate
        case (.post, "certificates", 1): return try apnsCredentials.issueCertificate(JSONObject(body))
        case (.post, "keys", 1): return try apnsCredentials.makeKey(JSONObject(body))
        case (.delete, "keys", 2): return try apnsCredentials.revokeKey(path[1])
        case (_, "phones", _):
            if let answer = try PhoneControl(site: site).respond(request.method, path, body: body) { return answer }
        case (.get, "crowd", 1): return answer(200, json: PhoneControl(site: site).statistics)
        case (.get, "ledger", 1): return try lines(query)
        case (.get, "faults", 2): return try faults(of: path[1]).active
        case (.post, "faults", 2): return try faults(of: path[1]).add(JSONObject(body))
        case (.delete, "faults", 2): return try faults(of: path[1]).clear()
        case (.delete, "tokens", 2): return try faults(of: path[1]).revokeTokens()
        case (_, "connections", 1):
            if let answer = try ConnectionControl(faults: connections).respond(request.method, body: body) { return answer }
        default: break
        }
        throw ControlRefusal(
            404, "simulator.path", "unknown path \(request.method.rawValue) \(place)",
            hint: "GET /credentials, /push-certificate, /phones, /phones/{name}, /crowd, /ledger, /faults/{service}, /connections, "
                + "/certificate, /health/live; POST /phones, /phones/{name}/actions, /phones/{name}/channels, /certificates, /keys, "
                + "/faults/{service}, /connections; DELETE /phones/{name}, /keys/{key_id}, /faults/{service}, /tokens/{service}, "
                + "/connections")
    }

    private var apnsCredentials: APNsCredentialControl { APNsCredentialControl(site: site) }

    private func faults(of word: String) throws(ControlRefusal) -> FaultControl {
        FaultControl(platform: try PhonePlatform(named: word), site: site)
    }

    // MARK: - Ledger

    private func lines(_ query: FormBody) throws(ControlRefusal) -> Answer {
        if let stranger = query.names.first(where: { !["after", "limit"].contains($0) }) {
            throw .request("unknown parameter \"\(stranger)\"", hint: "use after or limit")
        }
        let after = try Self.number("after", in: query, otherwise: 0, range: 0...Int(Int32.max))
        let limit = try Self.number("limit", in: query, otherwise: 100, range: 1...1000)
        var fields = HTTPFields()
        fields.add("content-type", "application/jsonl; charset=utf-8")
        return (HTTPResponse(status: .ok, headerFields: fields), ledger.lines(after: after, limit: limit))
    }

    private static func number(
        _ name: String, in query: FormBody, otherwise: Int, range: ClosedRange<Int>
    ) throws(ControlRefusal) -> Int {
        guard let text = query[name] else { return otherwise }
        guard let number = Int(text), range.contains(number) else {
            throw .request("invalid \(name) \"\(text)\"", hint: "give a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Removes percent-encoding from a path segment, in which a plus sign is literal.
    private static func decoded(_ part: Substring) -> String {
        FormBody(Array("=\(part.replacing("+", with: "%2B").replacing("&", with: "%26"))".utf8))[""] ?? ""
    }
}

extension PhonePlatform {
    /// The names of all platforms, for hints.
    static let names = PhonePlatform.allCases.map(\.rawValue).joined(separator: ", ")

    /// The platform of a service; throws 404 for an unknown one.
    init(named word: String) throws(ControlRefusal) {
        guard let platform = PhonePlatform(service: word) else {
            throw ControlRefusal(404, "simulator.path", "unknown service \"\(word)\"", hint: "use one of \(Self.names)")
        }
        self = platform
    }
}
