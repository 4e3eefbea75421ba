import HTTPTypes
import PushHub
import PushModel

/// Route that sends to all platforms at once, which the hub's own interface cannot do in one request.
enum SendManagement {
    static let route = ManagementRoute(
        .post(
            "/api/v1/hubs/{hub}/notifications", "sendNotification",
            "Send a notification, at once or later; responds when it is stored. The same Idempotency-Key sends it once"),
        .hub(.send),
        body: .object(
            "NewNotification",
            [
                "audience": .object(
                    "Audience",
                    [
                        "tagExpression?": .text("Devices whose tags match", length: 1...JSONSchema.longest),
                        "broadcast?": .choice("Every device of the hub", ["everyone"]),
                        "plan?": .text("The id of a plan: those of its devices that still exist", length: 1...40),
                    ], alternatives: ["tagExpression", "broadcast", "plan"]),
                "tolerance?": .text(
                    "With a plan, how many devices may have joined, left or changed since: 250, or 2% of the plan; none by default",
                    length: 1...20
                ).documented(["pattern": #"^(?:[0-9]{1,9}|(?:[0-9]{1,2}(?:\.[0-9]{1,2})?|100(?:\.00?)?)%)$"#]),
                "message?": NotificationContent.message, "native?": NotificationContent.native,
                "expiresAt?": .timestamp("When it expires"),
                "priority?": .choice("The priority", ["high", "normal", "low"]),
                "collapseId?": .text("A later notification with the same id replaces this one", length: 1...64)
                    .documented(["pattern": "^[ -~]+$"]),
                "at?": .timestamp("Due time, at most seven days ahead; by default at once"),
                "test?": .boolean("Whether it is a test send to at most ten devices, each tried once"),
                "note?": .text(
                    "Its purpose, shown to the approver and in the audit log", length: 1...SendGuard.maximumNoteLength),
                "pace?": .text("Maximum send rate in devices: 200/s, 1000/m or 5000/h", length: 3...12)
                    .documented(["pattern": "^[1-9][0-9]{0,8}/[smh]$"]),
            ], alternatives: ["message", "native", JSONSchema.none]
        ).documented(planned),
        answer: .created("The notification as stored", NotificationManagement.notification), refusals: [403, 409, 410, 413, 422],
        audit: AuditRule(.notificationSend, isFrequent: true) { call, answer throws(PushError) in
            let body = call.body
            let sketch = NotificationRequest(
                audience: try Audience(sending: body), content: try NotificationContent(sending: body) ?? .template([:]),
                isTest: body["test"]?.bool ?? false)
            var details = SendAuditDetails.details(sketch, try call.hub.record.name, at: body["at"]?.string, "management")
            if let plan = body["audience"]?["plan"]?.string {
                details["audience"] = "the devices of plan \(plan)"
                if (body["message"] ?? body["native"]) == nil { details["content"] = "the content of the plan" }
            }
            details["note"] = body["note"]?.string
            return ((try? JSON(parsing: answer.body))?["notificationId"]?.string ?? "", details)
        }
    ) { call async throws(PushError) in
        let request = try await call.notificationRequest()
        let dueTime = try call.body["at"]?.string.map { text throws(PushError) in try Timestamp(given: text, "at") }
        if request.isTest {
            guard dueTime == nil else {
                throw PushError("request.body", "a test send cannot be scheduled", hint: "leave out at, or test", status: 400)
            }
            try call.access.checkTests(try call.hub, call.request)
        }
        let accepted = try await call.hub.service.accept(
            request, at: dueTime, idempotencyKey: call.request.fields[.idempotencyKey],
            admission: try call.admission(note: call.body["note"]?.string))
        let id = accepted.outcome.id
        var answer = call.answer(accepted.outcome.json, .created, location: "\(call.request.path)/\(id)")
        if accepted.isRepeated { answer.fields[.idempotencyReplayed] = "true" }
        return answer
    }

    /// Dependencies between the members of a send.
    private static let planned: JSONObject = {
        let withPlan: JSON = ["properties": ["audience": ["required": ["plan"]]]]
        return [
            "allOf": [
                ["anyOf": [["required": ["message"]], ["required": ["native"]], withPlan]],
                ["if": ["required": ["tolerance"]], "then": withPlan],
                ["not": ["required": ["at", "test"], "properties": ["test": ["const": true]]]],
            ]
        ]
    }()
}

extension ManagementCall {
    /// The notification described by the body. Throws `request.body`, and `plan.*` if it is bound to a plan.
    fileprivate func notificationRequest() async throws(PushError) -> NotificationRequest {
        var options = PushOptions()
        options.expiration = try body["expiresAt"]?.string.map { text throws(PushError) in try Timestamp(given: text, "expiresAt") }
        options.priority = body["priority"]?.string.flatMap { PushOptions.Priority(rawValue: $0) }
        options.collapseID = body["collapseId"]?.string
        let pace = try body["pace"]?.string.map { text throws(PushError) in try Pace(text) }
        let content = try NotificationContent(sending: body)
        let tolerance = try body["tolerance"]?.string.map { text throws(PushError) in try DriftTolerance(text) }
        let isTest = body["test"]?.bool ?? false
        guard let plan = body["audience"]?["plan"]?.string else {
            guard tolerance == nil else {
                throw PushError(
                    "request.body", "tolerance requires a plan as audience", hint: "leave it out, or use a plan", status: 400)
            }
            guard let content else {
                throw PushError(
                    "request.body", "the body has neither message nor native", hint: "add one of the two", status: 400)
            }
            return NotificationRequest(
                audience: try Audience(sending: body), content: content, options: options, isTest: isTest, pace: pace)
        }
        var request = try await hub.service.request(
            PlannedSend(PlanBinding(plan, tolerance: tolerance ?? .none), content: content, options: options, pace: pace))
        request.isTest = isTest
        return request
    }
}

extension Audience {
    /// - Parameter body: A validated body without a plan.
    init(sending body: JSONObject) throws(PushError) {
        guard let text = body["audience"]?["tagExpression"]?.string else {
            self = .everyone
            return
        }
        do {
            self = .expression(try TagExpression(parsing: text))
        } catch {
            throw PushError(error)
        }
    }
}

extension NotificationContent {
    static let message = JSONSchema.map(
        "The properties for templates; names have at most 120 letters, digits and _", names: "[A-Za-z0-9_]{1,120}", of: .text())

    static let native = JSONSchema.map(
        "Payloads for the push services, by platform",
        of: .object(
            "PlatformPayload",
            [
                "payload": .textOrObject("The body for the push service: a string or an object"),
                "headers?": .map("Headers for the push service", of: .text()),
            ])
    ).documented(["propertyNames": ["enum": .array(Platform.allCases.map { .string($0.shortName) })]])

    /// - Parameter body: A validated body. The result is nil if it has no content.
    init?(sending body: JSONObject) throws(PushError) {
        if let native = body["native"]?.object {
            var payloads: [Platform: NativePayload] = [:]
            for (name, value) in native.members { payloads[try Platform(native: name)] = NativePayload(json: value) }
            self = .native(payloads)
        } else if let message = body["message"]?.object {
            self = .template(Dictionary(message.members.map { ($0.key, $0.value.plainText) }, uniquingKeysWith: { _, last in last }))
        } else {
            return nil
        }
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
                "request.body", "native has an unknown platform \"\(name.prefix(40))\"",
                hint: nearest(name, in: names).map { "did you mean \($0)?" } ?? "known platforms: \(names.joined(separator: ", "))",
                status: 400)
        }
        self = platform
    }
}

extension Timestamp {
    /// Throws `request.body` (400) if the text is not a time.
    init(given text: String, _ name: String) throws(PushError) {
        guard let dueTime = Timestamp(iso8601: text) else {
            throw PushError("request.body", "invalid time for \(name)", hint: "write 2026-01-31T12:00:00Z", status: 400)
        }
        self = dueTime
    }
}
