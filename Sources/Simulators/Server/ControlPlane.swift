import HTTPTypes

/// What tests and people do with the simulators over HTTP: take the credentials, add phones, look at them, read the ledger,
/// order refusals.
struct ControlPlane: Sendable {
    /// The hosts that it answers for.
    static let hosts: Set<String> = ["127.0.0.1", "localhost"]

    let site: SimulatedSite
    let ledger: NotificationLedger

    /// JSON, or JSON lines for the ledger; errors are `{"code","message","hint"}`.
    func handle(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        do {
            return try route(request, body: body)
        } catch {
            return error.answer
        }
    }

    private func route(_ request: HTTPRequest, body: [UInt8]) throws(ControlRefusal) -> Answer {
        let target = (request.path ?? "/").split(separator: "?", maxSplits: 1)
        let path = (target.first ?? "").split(separator: "/").map { Self.decoded($0) }
        switch (request.method, path.first ?? "", path.count) {
        case (.get, "health", 2) where path[1] == "live": return answer(200, json: JSONValue(members: ["status": .string("live")]))
        case (.get, "credentials", 1): return answer(200, json: site.credentials.json)
        case (.post, "phones", 1): return try addPhone(JSONObject(body))
        case (.get, "phones", 1):
            return answer(200, json: JSONValue(members: ["phones": .array(site.phones.phones.map { summary(of: $0) })]))
        case (.get, "phones", 2): return try phone(named: path[1])
        case (.get, "ledger", 1): return try lines(FormBody(Array((target.count > 1 ? target[1] : "").utf8)))
        case (.post, "faults", 2): return try fail(service(path[1]), JSONObject(body))
        case (.delete, "faults", 2):
            site[try service(path[1])].clearFaults()
            return answer(200, json: JSONValue(members: ["service": .string(path[1]), "reason": .null]))
        default:
            throw ControlRefusal(
                404, "simulator.path", "there is no \(request.method.rawValue) \(target.first ?? "")",
                hint: "GET /credentials, /phones, /phones/{name}, /ledger, /health/live; POST /phones, /faults/{service}; "
                    + "DELETE /faults/{service}")
        }
    }

    // MARK: - Phones

    private func addPhone(_ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["name", "platform", "user", "locale"])
        let name = try fields.text("name")
        let word = try fields.text("platform")
        guard let platform = PhonePlatform(rawValue: word) else {
            throw .request("there are no phones on the platform \"\(word)\"", hint: "platforms are \(Self.platforms)")
        }
        let description = PhoneDescription(
            name: name, platform: platform, user: try fields.optionalText("user") ?? "",
            locale: try fields.optionalText("locale") ?? "en-US", app: SimulatorCredentials.app,
            applicationServerKey: platform == .browser ? site.credentials.applicationServerPublicKey : nil)
        guard let phone = site.phones.addPhone(uniquelyNamed: description) else {
            throw ControlRefusal(409, "device.exists", "there is a phone named \"\(name)\" already", hint: "choose another name")
        }
        return answer(201, json: summary(of: phone))
    }

    private func phone(named name: String) throws(ControlRefusal) -> Answer {
        guard let phone = site.phones.phone(named: name) else {
            throw ControlRefusal(
                404, "device.not_found", "there is no phone named \"\(name)\"", hint: "GET /phones lists them; POST /phones adds one")
        }
        let more: [JSONValue.Member] = [
            .init(name: "badge", value: .init(site.phones.badge(of: phone))),
            .init(name: "inbox", value: .array(site.phones.inbox(of: phone).map(\.json))),
        ]
        return answer(200, json: .object((summary(of: phone).members ?? []) + more))
    }

    private func summary(of phone: PhoneID) -> JSONValue {
        let description = site.phones.description(of: phone)
        return JSONValue(members: [
            "name": .init(description?.name), "platform": .init(description?.platform.rawValue),
            "user": .init(description?.user), "locale": .init(description?.locale),
            "handle": .init(site.phones.pushHandle(of: phone)),
        ])
    }

    // MARK: - Ledger

    private func lines(_ query: FormBody) throws(ControlRefusal) -> Answer {
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
            throw .request("\(name) is \"\(text)\"", hint: "give a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    // MARK: - Faults

    private func fail(_ platform: PhonePlatform, _ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["reason", "count", "handle"])
        let reason = try fields.text("reason")
        let count = try fields.optionalCount("count")
        var handle = try fields.optionalText("handle")
        if platform == .apns { handle = handle?.lowercased() }
        let service = site[platform]
        guard service.fail(reason, count: count, handle: handle) else {
            throw ControlRefusal(
                400, "simulator.reason", "\(platform.rawValue) does not refuse with \"\(reason)\"",
                hint: "it says \(service.reasons.joined(separator: ", "))")
        }
        return answer(
            200,
            json: JSONValue(members: [
                "service": .string(platform.rawValue), "reason": .string(reason),
                "count": count.map { .number(String($0)) } ?? .null, "handle": .init(handle),
            ]))
    }

    private func service(_ word: String) throws(ControlRefusal) -> PhonePlatform {
        guard let platform = PhonePlatform(rawValue: word) else {
            throw ControlRefusal(404, "simulator.path", "there is no service \"\(word)\"", hint: "services are \(Self.platforms)")
        }
        return platform
    }

    private static let platforms = PhonePlatform.allCases.map(\.rawValue).joined(separator: ", ")

    /// A part of a path without its percent-encoding; a plus sign is itself there.
    private static func decoded(_ part: Substring) -> String {
        FormBody(Array("=\(part.replacing("+", with: "%2B").replacing("&", with: "%26"))".utf8))[""] ?? ""
    }
}

extension InboxItem {
    fileprivate var json: JSONValue {
        JSONValue(members: [
            "id": .string(id), "received_at": .number(String(receivedAt)), "text": .string(text), "title": .string(title),
            "body": .string(body), "is_shown": .bool(isShown), "is_background": .bool(isBackground),
            "reason_not_shown": .init(reasonNotShown), "payload": .string(String(decoding: data, as: UTF8.self)),
        ])
    }
}
