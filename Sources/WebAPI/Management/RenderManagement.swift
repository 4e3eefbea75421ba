import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Route that renders what a send would deliver, without sending.
enum RenderManagement {
    static let route = ManagementRoute(
        .post("/api/v1/hubs/{hub}/render", "render", "Render what each group of devices would receive; nothing is sent"),
        .hub(.send),
        body: .object(
            "RenderRequest",
            [
                "tagExpression?": .text("The audience; by default everyone", length: 1...JSONSchema.longest),
                "message?": .map(
                    "The properties for templates; names have at most 120 letters, digits and _", names: "[A-Za-z0-9_]{1,120}",
                    of: .text()),
                "native?": .object(
                    "NativePayload",
                    [
                        "platform": .platform, "payload": .textOrObject("The body for the push service: a string or an object"),
                    ]),
            ], alternatives: ["message", "native"]),
        answer: .ok("What would be sent", preview), refusals: [403]
    ) { call async throws(PushError) in
        let preview = try await call.hub.service.preview(try NotificationRequest(rendering: call.body))
        return call.answer(preview.json)
    }

    private static let preview = JSONSchema.object(
        "Preview",
        [
            "matched": .integer("Registrations that match the tag expression, whatever they can receive"),
            "groups": .list(
                "Devices that would get the same bytes; at most 100 groups",
                of: .object(
                    "PreviewGroup",
                    [
                        "platform": .platform, "template?": .text("Its name"), "payload": .text("The body for the push service"),
                        "headers?": .map("Headers for the push service", of: .text()), "bytes": .integer("Size of the payload"),
                        "devices": .integer("Number of devices"),
                        "refused?": .object(
                            "Refusal",
                            [
                                "outcome": .outcome, "reason": .text(), "explanation": .text("What it means and what to do"),
                            ]),
                    ])),
            "furtherGroups": .integer("Number of further groups"),
            "nearMisses?": .list("Near misses, if no device would receive anything", of: .text()),
        ])
}

extension NotificationRequest {
    /// - Parameter body: The validated body of a `render` request.
    fileprivate init(rendering body: JSONObject) throws(PushError) {
        var audience = Audience.everyone
        if let text = body["tagExpression"]?.string {
            audience = .expression(try TagExpression(given: text))
        }
        if let native = body["native"], let platform = native["platform"]?.string.flatMap({ Platform(shortName: $0) }) {
            let payload = native["payload"]
            let bytes = payload?.string.map { Array($0.utf8) } ?? payload?.serialized() ?? []
            self.init(audience: audience, content: .native([platform: NativePayload(body: bytes)]))
        } else {
            let members = body["message"]?.object?.members ?? []
            self.init(
                audience: audience,
                content: .template(Dictionary(members.map { ($0.key, $0.value.string ?? "") }) { _, last in last }))
        }
    }
}

extension SendPreview {
    fileprivate var json: JSON {
        .members([
            "matched": .count(matched), "groups": .array(groups.map(\.json)), "furtherGroups": .count(furtherGroups),
            "nearMisses": nearMisses.isEmpty ? nil : .array(nearMisses.map { .string($0) }),
        ])
    }
}

extension SendPreview.Group {
    fileprivate var json: JSON {
        let headers = JSONObject(headers.map { ($0.name, JSON.string($0.value)) })
        return .members([
            "platform": .string(platform.shortName), "template": templateName.map { .string($0) },
            "payload": .string(String(decoding: body, as: UTF8.self)), "headers": headers.isEmpty ? nil : .object(headers),
            "bytes": .count(body.count), "devices": .count(devices),
            "refused": refusal.map { refusal in
                [
                    "outcome": .string(refusal.outcome.rawValue), "reason": .string(refusal.reason),
                    "explanation": .string(refusal.explanation),
                ]
            },
        ])
    }
}
