import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Route that sends a text to one user or one device in one request, for programs that need nothing else.
enum TextSendManagement {
    static let route = ManagementRoute(
        .post(
            "/api/v1/hubs/{hub}/send", "sendText",
            "Send a text to the devices of a user or to one device; responds when it is stored. The same Idempotency-Key sends it once"),
        .hubKey(.send),
        body: .object(
            "TextSend",
            [
                "to": JSONSchema.object(
                    "Recipient",
                    [
                        "user?": .user,
                        "platform?": .choice("The push service of the token", Platform.spellings),
                        "token?": .textOrObject(
                            "The device's token or channel URI; for browser, its PushSubscription as an object or as text"),
                    ], alternatives: ["user", "token"]
                ).documented(["dependentRequired": ["platform": ["token"], "token": ["platform"]]]),
                "text": .text("The text, which the system of the device shows", length: 1...JSONSchema.longest),
            ]),
        answer: .accepted("The notification is stored, and its delivery has begun", .object("SentText", ["notificationId": .text()])),
        refusals: [403, 409, 422],
        audit: AuditRule(.notificationSend, isFrequent: true) { call, answer throws(PushError) in
            let request = try NotificationRequest(sendingText: call.body)
            let details = SendAuditDetails.details(request, try call.hub.record.name, at: nil, "management")
            return ((try? JSON(parsing: answer.body))?["notificationId"]?.string ?? "", details)
        }
    ) { call async throws(PushError) in
        let accepted = try await call.hub.service.accept(
            try NotificationRequest(sendingText: call.body), at: nil, idempotencyKey: call.request.fields[.idempotencyKey],
            admission: try call.admission(note: nil))
        let id = accepted.outcome.id
        let path = try "/api/v1/hubs/\(PercentEncoding.encode(call.hub.record.name))/notifications/\(PercentEncoding.encode(id))"
        var answer = call.answer(["notificationId": .string(id)], .accepted, location: path)
        if accepted.isRepeated { answer.fields[.idempotencyReplayed] = "true" }
        return answer
    }
}

extension NotificationRequest {
    /// - Parameter body: The validated body of a `sendText` request.
    fileprivate init(sendingText body: JSONObject) throws(PushError) {
        let payloads = AlertPayloads.system(title: nil, text: body["text"]?.string ?? "")
        let to = body["to"]?.object ?? JSONObject()
        if let user = to["user"]?.string {
            guard to["platform"] == nil else {
                throw PushError(
                    "request.body", "to has user and platform, which cannot be combined",
                    hint: "give only user, or platform and token", status: 400)
            }
            // The hub sets one of the tags, and the app backend the other.
            let tags = [try Tag.addressing(user)] + [Tag(validating: "username:\(user)")].compactMap { $0 }
            self.init(audience: .expression(tags.count == 1 ? .tag(tags[0]) : .or(tags.map { .tag($0) })), content: .native(payloads))
        } else {
            let handle = try DeviceHandle(recipient: to)
            self.init(audience: .device(handle), content: .native(payloads.filter { $0.key == handle.platform }))
        }
    }
}

extension DeviceHandle {
    /// - Parameter recipient: The validated member `to` of a body, without a user.
    fileprivate init(recipient: JSONObject) throws(PushError) {
        guard let platform = recipient["platform"]?.string.flatMap({ Platform(shortName: $0) }) else {
            throw PushError(
                "request.body", "to lacks platform",
                hint: "add the push service of the token: \(Platform.spellings.joined(separator: ", "))", status: 400)
        }
        let token = recipient["token"] ?? .null
        if let text = token.string {
            try self.init(platform: platform, text: text)
        } else if platform == .browser {
            try self.init(subscription: token)
        } else {
            throw PushError(
                "handle.invalid", "the token of \(platform.displayName) is an object", hint: "send its text; only browser has objects",
                status: 400)
        }
    }
}
