import HTTPTypes
import HubWire
import PushCore

// Who would get what: plans, and the devices of each.
extension ManagementRoute {
    static let plans: [ManagementRoute] = [
        ManagementRoute(
            .post, "/api/v1/hubs/{hub}/plans", "makePlan",
            "Say exactly who would get a notification, and what; nothing is sent. A send can be bound to the plan", .hub, .send,
            body: .object(
                "NewPlan",
                [
                    "audience": .object(
                        "PlanAudience",
                        [
                            "tagExpression?": .text("Whoever satisfies it", length: 1...JSONSchema.longest),
                            "broadcast?": .choice("Every device of the hub, by the word", ["everyone"]),
                        ], alternatives: ["tagExpression", "broadcast"]),
                    "message?": NotificationContent.message, "native?": NotificationContent.native,
                    "devices?": .integer(
                        "How many of its devices are told in the answer; none where it is not given", 0...Int64(PlanRequest.mostTold)),
                    "keep?": .boolean("Whether it is kept, so that a send can be bound to it; it is where this is not given"),
                ], alternatives: ["message", "native", JSONSchema.none]),
            answer: .created("The plan", plan), refusals: [403, 413]
        ) { call async throws(PushError) in
            let request = PlanRequest(
                audience: try Audience(sending: call.body), content: try NotificationContent(sending: call.body),
                isKept: call.body["keep"]?.bool ?? true, told: call.body["devices"]?.int ?? 0)
            let report = try await call.hub.service.plan(request, by: call.actor)
            return call.answer(report.document, .created, location: report.id.map { "\(call.request.path)/\($0)" })
        },
        ManagementRoute(
            .get, "/api/v1/hubs/{hub}/plans", "listPlans", "The plans that are kept, newest first", .hub, .send,
            [.top, .continuation(number)],
            answer: .ok("A page of plans", .page(of: summary)), refusals: [403]
        ) { call async throws(PushError) in
            let found = try await call.hub.service.plans(
                before: call.text("continuation").flatMap { Int64($0) }, limit: call.top + 1)
            let shown = found.prefix(call.top)
            return call.list(
                shown.map(\.report.summary), continuation: found.count > shown.count ? shown.last.map { String($0.number) } : nil)
        },
        ManagementRoute(
            .get, "/api/v1/hubs/{hub}/plans/{id}", "getPlan", "One plan, as it was made", .hub, .send,
            answer: .ok("The plan", plan), refusals: [403, 410]
        ) { call async throws(PushError) in
            call.answer(try await call.hub.service.plan(call.name("id")).document)
        },
        ManagementRoute(
            .get, "/api/v1/hubs/{hub}/plans/{id}/devices", "listPlanDevices",
            "The devices of a plan one by one, in the order of the hub, each as it is now", .hub, .send,
            [
                Parameter(name: "top", schema: .integer("Most devices of the page; 100 where it is not given", 1...1000)),
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

    private static let count = JSONSchema.object("PlanCount", ["name": .text(), "devices": .integer("How many")])
    private static let kind = JSONSchema.choice("Whether its registration has a template", ["template", "native"])
    private static let audience = JSONSchema.object(
        "PlannedAudience",
        [
            "tagExpression?": .text("Whoever satisfies it"), "broadcast?": .choice("Every device", ["everyone"]),
            "devices?": .integer("Handles without registrations"),
        ])

    static let plannedDevice = device
    private static let device = JSONSchema.object(
        "PlannedDevice",
        [
            "registrationId?": .text(), "installationId?": .text("What the registration stands for"), "user?": .text("Whose it is"),
            "platform": .platform, "handle?": .text("Enough of it to recognise the device; absent where it has left"), "kind": kind,
            "template?": .text("Its name"), "bytes?": .integer("Of what it would get; absent where the plan has no content"),
            "isDuplicate": .boolean("Whether another registration with its handle stands for it"),
            "isRefused": .boolean("Whether no push service would be asked for it"),
            "hasLeft": .boolean("Whether it has left the hub since the plan was made"),
        ])

    private static let summary = JSONSchema.object(
        "PlanSummary",
        [
            "planId": .text(), "plannedAt": .moment(), "expiresAt?": .moment(), "plannedBy?": .text("The name of the key"),
            "audience": audience, "total": .integer("Devices that would be sent to"), "duplicates": .integer(), "refused": .integer(),
        ])

    private static let group = JSONSchema.object(
        "PlanGroup",
        [
            "platform": .platform, "kind": kind, "template?": .text("Its name"), "devices": .integer("How many"),
            "payload": .text("The body that the push service gets"), "headers?": .map("Those of the platform", of: .text()),
            "bytes": .integer("Of the payload"), "limit": .integer("The most that the platform takes"),
            "tooLarge": .boolean("Whether it is beyond the limit"),
            "missing?": .list("Properties that its template shows, that nobody gives and that have no default", of: .text()),
            "textless?": .boolean("Whether it has no text that a phone would show"),
            "unreplaced?": .list(
                "Expressions inside text, which phones would show as they are written, with what to write instead", of: .text()),
            "refused?": .object(
                "Refusal",
                [
                    "outcome": .outcome, "reason": .text(), "explanation": .text("What it means and what to do"),
                ]),
        ])

    private static let plan = JSONSchema.object(
        "Plan",
        [
            "planId?": .text("Absent where it is not kept"), "plannedAt": .moment(), "expiresAt?": .moment("When it is forgotten"),
            "plannedBy?": .text("The name of the key"), "audience": audience,
            "content?": .object(
                "PlannedContent",
                [
                    "message?": .map("The properties that fill the templates", of: .text()),
                    "native?": .map(
                        "What the push services get, by platform",
                        of: .object("PlannedPayload", ["payload": .text(), "headers?": .map(of: .text())])),
                ]),
            "matched": .integer("Registrations that the audience names, whatever they can receive"),
            "total": .integer("Devices that would be sent to, each handle once; registrations, in a plan without a content"),
            "duplicates": .integer("Registrations that another one with their handle stands for"),
            "refused": .integer("Of the devices, those whose push service would not be asked"),
            "platforms": .map("Devices by platform", of: .integer()),
            "tags": .list("Devices by tag, most first; tags of users and of single devices are left out", of: count),
            "furtherTags": .integer("How many tags there are beyond these"),
            "locales": .list("Devices by locale, as far as one is known", of: count),
            "templates": .list(
                "Devices by the name of their template",
                of: .object(
                    "PlanTemplate",
                    [
                        "platform": .platform, "kind": kind, "template?": .text("Its name"), "devices": .integer("How many"),
                        "smallestBytes?": .integer("Of the rendered bodies"), "largestBytes?": .integer("Of the rendered bodies"),
                        "refused": .integer("Of these, those that would get nothing"),
                    ])),
            "furtherTemplates": .integer("How many there are beyond these"),
            "groups": .list("Devices that would get the same bytes; at most 100 groups", of: group),
            "furtherGroups": .integer("How many groups there are beyond these"),
            "sentAs?": .list("As which notifications it was sent already, at most ten", of: .text()),
            "nearMisses?": .list("Where nobody would get anything, what comes close, in words", of: .text()),
            "failedTerms?": .list(
                "Where nobody or few would get it: the parts of the expression that keep devices out",
                of: .object(
                    "FailedTerm",
                    [
                        "term": .text(), "matches": .integer("Registrations that satisfy it"),
                        "without?": .integer("Registrations that the expression around it would name without it"),
                    ])),
            "devices?": .list("The first of its devices, where they were asked for", of: device),
            "difference?": .object(
                "PlanDifference",
                [
                    "planId": .text("The plan of the same audience before"), "plannedAt": .moment(), "joined": .integer(),
                    "left": .integer(),
                    "changed": .integer("Those that would get other bytes now"), "firstJoined": .list("The first few", of: device),
                    "firstLeft": .list("The first few", of: device),
                ]),
        ])
}

extension PlanReport {
    fileprivate var summary: JSON {
        let members = document.object ?? JSONObject()
        let shown = ["planId", "plannedAt", "expiresAt", "plannedBy", "audience", "total", "duplicates", "refused"]
        return .object(JSONObject(shown.compactMap { name in members[name].map { (name, $0) } }))
    }
}
