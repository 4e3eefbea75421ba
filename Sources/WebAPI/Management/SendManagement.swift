import HTTPTypes
import PushCore

// A send to every platform at once, which the hub's own interface cannot say in one request.
extension ManagementRoute {
    static let sendNotification = ManagementRoute(
        .post, "/api/v1/hubs/{hub}/notifications", "sendNotification",
        "Send a notification, at once or later; it is answered when it is kept. The same Idempotency-Key sends it once", .hub, .send,
        body: .object(
            "NewNotification",
            [
                "audience": .object(
                    "Audience",
                    [
                        "tagExpression?": .text("Whoever satisfies it", length: 1...JSONSchema.longest),
                        "broadcast?": .choice("Every device of the hub, by the word", ["everyone"]),
                    ], alternatives: ["tagExpression", "broadcast"]),
                "message?": .map(
                    "The properties that fill the templates; names are letters, digits and _, at most 120", names: "[A-Za-z0-9_]{1,120}",
                    of: .text()),
                "native?": .map(
                    "What the push services get, by platform",
                    of: .object(
                        "PlatformPayload",
                        [
                            "payload": .textOrObject("The body that the push service gets: a text, or an object"),
                            "headers?": .map("Those of the platform", of: .text()),
                        ])), "expiresAt?": .moment("When it is worthless"),
                "priority?": .choice("How urgent it is", ["high", "normal", "low"]),
                "collapseId?": .text("A later notification with the same one replaces this one", length: 1...64),
                "at?": .moment("When it is sent, at most seven days ahead; at once where it is not given"),
                "test?": .boolean("Whether it goes to at most ten devices, each tried once"),
                "note?": .text(
                    "What it is for, to be shown to who may have to allow it, and in the audit log", length: 1...SendGuard.longestNote),
                "pace?": .text("How fast it goes out at most: 200/s, 1000/m or 5000/h devices", length: 3...12),
            ], alternatives: ["message", "native"]),
        answer: .created("The notification as it was kept", notification), refusals: [403, 413, 422],
        noted: Noted(.notificationSend, isFrequent: true) { call, answer throws(PushError) in
            let request = try NotificationRequest(sending: call.body)
            let id = (try? JSON(parsing: answer.body))?["notificationId"]?.string ?? ""
            var details = SentWords.details(request, try call.hub.record.name, at: call.body["at"]?.string, "management")
            details["note"] = call.body["note"]?.string
            return (id, details)
        }
    ) { call async throws(PushError) in
        let request = try NotificationRequest(sending: call.body)
        let moment = try call.body["at"]?.string.map { text throws(PushError) in try Timestamp(given: text, "at") }
        if request.isTest {
            guard moment == nil else {
                throw PushError("request.body", "a test send cannot be sent later", hint: "leave out at, or test", status: 400)
            }
            try call.access.checkTests(try call.hub, call.request)
        }
        let accepted = try await call.hub.service.accept(
            request, at: moment, idempotencyKey: call.request.fields[.idempotencyKey],
            admission: try call.admission(note: call.body["note"]?.string))
        let id = accepted.outcome.id
        var answer = call.answer(accepted.outcome.json, .created, location: "\(call.request.path)/\(id)")
        if accepted.isRepeated { answer.fields[.idempotencyReplayed] = "true" }
        return answer
    }
}

extension NotificationRequest {
    /// - Parameter body: of a request to send, which fits its schema.
    fileprivate init(sending body: JSONObject) throws(PushError) {
        var audience = Audience.everyone
        if let text = body["audience"]?["tagExpression"]?.string {
            audience = .expression(try TagExpression(given: text))
        }
        var options = PushOptions()
        options.expiration = try body["expiresAt"]?.string.map { text throws(PushError) in try Timestamp(given: text, "expiresAt") }
        options.priority = body["priority"]?.string.flatMap { PushOptions.Priority(rawValue: $0) }
        options.collapseID = body["collapseId"]?.string
        let content: NotificationContent
        if let native = body["native"]?.object {
            var payloads: [Platform: NativePayload] = [:]
            for (name, value) in native.members { payloads[try Platform(native: name)] = NativePayload(json: value) }
            content = .native(payloads)
        } else {
            let members = body["message"]?.object?.members ?? []
            content = .template(Dictionary(members.map { ($0.key, $0.value.plainText) }, uniquingKeysWith: { _, last in last }))
        }
        let pace = try body["pace"]?.string.map { text throws(PushError) in try Pace(text) }
        self.init(audience: audience, content: content, options: options, isTest: body["test"]?.bool ?? false, pace: pace)
    }
}

extension NativePayload {
    fileprivate init(json: JSON) {
        let payload = json["payload"]
        let headers = json["headers"]?.object?.members ?? []
        self.init(
            body: payload?.string.map { Array($0.utf8) } ?? payload?.serialized() ?? [],
            headers: headers.map { PushHeader($0.key, $0.value.plainText) })
    }
}

extension Platform {
    fileprivate init(native name: String) throws(PushError) {
        guard let platform = Platform(shortName: name) else {
            let names = Platform.allCases.map(\.shortName)
            throw PushError(
                "request.body", "native has a member \"\(name.prefix(40))\", which is no platform",
                hint: nearest(name, in: names).map { "did you mean \($0)?" } ?? "there are \(names.joined(separator: ", "))", status: 400)
        }
        self = platform
    }
}

extension Timestamp {
    /// Throws `request.body` (400) for a text that is no moment.
    init(given text: String, _ name: String) throws(PushError) {
        guard let moment = Timestamp(iso8601: text) else {
            throw PushError("request.body", "\(name) is no moment", hint: "write 2026-01-31T12:00:00Z", status: 400)
        }
        self = moment
    }
}
