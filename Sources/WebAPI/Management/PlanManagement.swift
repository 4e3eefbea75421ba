import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes for plans, which list the devices that a send would reach.
enum PlanManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .post(
                "/api/v1/hubs/{hub}/plans", "makePlan",
                "Plan a send: list its exact recipients and content; nothing is sent. A send can be bound to the plan"),
            .hub(.send),
            body: .object(
                "NewPlan",
                [
                    "audience": .object(
                        "PlanAudience",
                        [
                            "tagExpression?": .text("Devices whose tags match", length: 1...JSONSchema.longest),
                            "broadcast?": .choice("Every device of the hub", ["everyone"]),
                        ], alternatives: ["tagExpression", "broadcast"]),
                    "message?": NotificationContent.message, "native?": NotificationContent.native,
                    "devices?": .integer(
                        "Number of its devices to list in the response; none by default", 0...Int64(PlanRequest.maximumDevices)),
                    "keep?": .boolean("Whether to store it, so that a send can be bound to it; true by default"),
                ], alternatives: ["message", "native", JSONSchema.none]),
            answer: .created("The plan", plan), refusals: [403, 413]
        ) { call async throws(PushError) in
            let request = PlanRequest(
                audience: try Audience(sending: call.body), content: try NotificationContent(sending: call.body),
                isStored: call.body["keep"]?.bool ?? true, deviceLimit: call.body["devices"]?.int ?? 0)
            let report = try await call.hub.service.plan(request, by: call.actor)
            return call.answer(PlanReportDocument(report).json, .created, location: report.id.map { "\(call.request.path)/\($0)" })
        },
        ManagementRoute(
            .get("/api/v1/hubs/{hub}/plans", "listPlans", "The stored plans, newest first"),
            .hub(.send), [.top, .continuation(number)],
            answer: .ok("A page of plans", .page(of: summary)), refusals: [403]
        ) { call async throws(PushError) in
            let found = try await call.hub.service.plans(
                before: call.text("continuation").flatMap { Int64($0) }, limit: call.top + 1)
            let shown = found.prefix(call.top)
            return call.list(
                shown.map(\.report.summary), continuation: found.count > shown.count ? shown.last.map { String($0.number) } : nil)
        },
        ManagementRoute(
            .get("/api/v1/hubs/{hub}/plans/{id}", "getPlan", "One plan, as created"),
            .hub(.send), answer: .ok("The plan", plan), refusals: [403, 410]
        ) { call async throws(PushError) in
            call.answer(PlanReportDocument(try await call.hub.service.plan(call.name("id"))).json)
        },
        ManagementRoute(
            .get(
                "/api/v1/hubs/{hub}/plans/{id}/devices", "listPlanDevices",
                "The devices of a plan in the hub's order, each in its current state"),
            .hub(.send),
            [
                .query("top", .integer("Maximum number of devices per page; 100 by default", 1...1000)),
                .continuation(number),
            ],
            answer: .ok("A page of devices", .page(of: device)), refusals: [403, 410]
        ) { call async throws(PushError) in
            let start = call.text("continuation").flatMap { Int($0) } ?? 0
            let found = try await call.hub.service.devices(ofPlan: call.name("id"), from: start, limit: call.top + 1)
            let shown = found.prefix(call.top)
            return call.list(
                shown.map(\.document), continuation: found.count > shown.count ? String(start + shown.count) : nil)
        },
    ]

    private static let number = "[0-9]{1,18}"

    private static let count = JSONSchema.object("PlanCount", ["name": .text(), "devices": .integer("Number of devices")])
    private static let kind = JSONSchema.choice("Whether its registration has a template", ["template", "native"])
    private static let audience = JSONSchema.object(
        "PlannedAudience",
        [
            "tagExpression?": .text("Devices whose tags match"), "broadcast?": .choice("Every device", ["everyone"]),
            "devices?": .integer("Handles without registrations"),
        ])

    static let device = JSONSchema.object(
        "PlannedDevice",
        [
            "registrationId?": .text(), "installationId?": .text("The registration's installation"), "user?": .text("The device's user"),
            "platform": .platform, "handle?": .text("Abbreviated; absent if the device was removed from the hub"), "kind": kind,
            "template?": .text("Its name"), "bytes?": .integer("Size of its payload; absent if the plan has no content"),
            "isDuplicate": .boolean("Whether another registration has the same handle and is used instead"),
            "isRefused": .boolean("Whether it would be rejected before it reaches a push service"),
            "hasLeft": .boolean("Whether it was removed from the hub since the plan was made"),
        ])

    private static let summary = JSONSchema.object(
        "PlanSummary",
        [
            "planId": .text(), "plannedAt": .timestamp(), "expiresAt?": .timestamp(), "plannedBy?": .text("The name of the key"),
            "audience": audience, "total": .integer("Devices that would be sent to"), "duplicates": .integer(), "refused": .integer(),
        ])

    private static let group = JSONSchema.object(
        "PlanGroup",
        [
            "platform": .platform, "kind": kind, "template?": .text("Its name"), "devices": .integer("Number of devices"),
            "payload": .text("The body for the push service"), "headers?": .map("Headers for the push service", of: .text()),
            "bytes": .integer("Size of the payload"), "limit": .integer("The platform's maximum size"),
            "tooLarge": .boolean("Whether it exceeds the limit"),
            "missing?": .list("Properties that its template uses, but that are missing and have no default", of: .text()),
            "textless?": .boolean("Whether it has no text for a phone to show"),
            "unreplaced?": .list(
                "Expressions inside text, which phones would show literally, with a correction", of: .text()),
            "refused?": .object(
                "Refusal",
                [
                    "outcome": .outcome, "reason": .text(), "explanation": .text("What it means and what to do"),
                ]),
        ])

    private static let plan = JSONSchema.object(
        "Plan",
        [
            "planId?": .text("Absent if it is not stored"), "plannedAt": .timestamp(), "expiresAt?": .timestamp("When it expires"),
            "plannedBy?": .text("The name of the key"), "audience": audience,
            "content?": .object(
                "PlannedContent",
                [
                    "message?": .map("The properties for templates", of: .text()),
                    "native?": .map(
                        "Payloads for the push services, by platform",
                        of: .object("PlannedPayload", ["payload": .text(), "headers?": .map(of: .text())])),
                ]),
            "matched": .integer("Registrations that match the audience, whatever they can receive"),
            "total": .integer("Devices that would be sent to, each handle once; in a plan without content, registrations"),
            "duplicates": .integer("Registrations that share a handle with another one, which is used instead"),
            "refused": .integer("Devices that would be rejected before they reach a push service"),
            "platforms": .map("Devices by platform", of: .integer()),
            "tags": .list("Devices by tag, most frequent first; tags of users and single devices are omitted", of: count),
            "furtherTags": .integer("Number of further tags"),
            "locales": .list("Devices by locale, if known", of: count),
            "templates": .list(
                "Devices by the name of their template",
                of: .object(
                    "PlanTemplate",
                    [
                        "platform": .platform, "kind": kind, "template?": .text("Its name"), "devices": .integer("Number of devices"),
                        "smallestBytes?": .integer("Smallest rendered body"), "largestBytes?": .integer("Largest rendered body"),
                        "refused": .integer("Number of these that would be rejected"),
                    ])),
            "furtherTemplates": .integer("Number of further templates"),
            "groups": .list("Devices that would get the same bytes; at most 100 groups", of: group),
            "furtherGroups": .integer("Number of further groups"),
            "sentAs?": .list("Notifications already sent from it, at most ten", of: .text()),
            "nearMisses?": .list("Near misses, if no device would receive anything", of: .text()),
            "failedTerms?": .list(
                "If no or few devices match: the parts of the expression that exclude devices",
                of: .object(
                    "FailedTerm",
                    [
                        "term": .text(), "matches": .integer("Registrations that satisfy it"),
                        "without?": .integer("Registrations that the enclosing expression would match without it"),
                    ])),
            "devices?": .list("The first of its devices, if requested", of: device),
            "difference?": .object(
                "PlanDifference",
                [
                    "planId": .text("The previous plan for the same audience"), "plannedAt": .timestamp(), "joined": .integer(),
                    "left": .integer(),
                    "changed": .integer("Devices whose payload is different now"), "firstJoined": .list("The first few", of: device),
                    "firstLeft": .list("The first few", of: device),
                ]),
        ])
}

extension PlanReport {
    fileprivate var summary: JSON {
        let members = PlanReportDocument(self).json.object ?? JSONObject()
        let shown = ["planId", "plannedAt", "expiresAt", "plannedBy", "audience", "total", "duplicates", "refused"]
        return .object(JSONObject(shown.compactMap { name in members[name].map { (name, $0) } }))
    }
}
