import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

/// Sends above a ceiling, through both interfaces, and the decisions about them.
@Suite struct ApprovalManagementTests {
    /// A hub with three devices, and a key that may reach two.
    private func bench() async throws -> (bench: ManagementBench, app: AuthorizationRule) {
        let bench = try await ManagementBench()
        for number in 1...3 {
            _ = try await bench.hub.createRegistration(RegistrationDescription(handle: .phone(number), tags: [try PushModel.Tag("sports")]))
        }
        try await bench.call(.post, "/api/v1/hubs/hub/keys", ["name": "app", "rights": ["Send"], "ceiling": 2])
        return (bench, try bench.rule("app"))
    }

    private static let body: JSON = [
        "audience": ["tagExpression": "sports"], "native": ["apns": ["payload": ["aps": ["alert": "Outage"]]]], "note": "outage notice",
    ]

    @Test func `A send above the key's ceiling is pending until another person approves it`() async throws {
        let (bench, app) = try await bench()
        let path = "/api/v1/hubs/hub/notifications"
        let error = await refusal { try await bench.call(.post, path, Self.body, by: app) }
        #expect(error?.code == "approval.required" && error?.status == 403)
        #expect(error?.message.contains("(limit 2 for key:hub/app)") == true)
        let problem = ProblemDocument(error: try #require(error), trackingID: "t").json
        #expect(problem["approvalId"] == "a-1")
        #expect(throws: Never.self) { try ProblemDocument.schema.check(problem, "problem") }

        let listed = try await bench.pages("/api/v1/approvals?state=pending")
        #expect(listed.items.count == 1 && listed.items[0]["native"] == nil)
        let shown = try await bench.call(.get, "/api/v1/approvals/a-1")
        #expect(shown["requestedBy"] == "key:hub/app" && shown["devices"] == 3 && shown["platforms"] == ["apns": 3])
        #expect(shown["native"]?["apns"] == #"{"aps":{"alert":"Outage"}}"# && shown["note"] == "outage notice")
        #expect(shown["why"] == "more than the limit of 2 for key:hub/app")

        let approved = try await bench.call(.post, "/api/v1/approvals/a-1/approve", ["reason": "checked"])
        #expect(approved["state"] == "sent" && approved["decidedBy"] == "key:\(Namespace.rootRule)" && approved["reason"] == "checked")
        let id = try #require(approved["notificationId"]?.string)
        await bench.bench.bench.settle()
        #expect(try await bench.call(.get, "\(path)/\(id)")["outcomes"] == ["apns": ["Success": 3]])
        #expect(await refusal { try await bench.call(.post, "/api/v1/approvals/a-1/deny", [:]) }?.code == "approval.decided")
        #expect(await refusal { try await bench.call(.get, "/api/v1/approvals/a-2") }?.hint == "did you mean \"a-1\"?")
        let noted = await bench.bench.noted()
        #expect(
            noted.contains {
                $0.contains("approval.approve a-1 decided=")
                    && $0.contains(
                        " hub=hub words=approved by key:\(Namespace.rootRule) · 3 devices · tags sports · requested by "
                            + "key:hub/app · note \"outage notice\" · reason \"checked\"")
            }, "\(noted)")
        #expect(!noted.contains { $0.contains("Outage") })
    }

    @Test func `Requesters can view and withdraw their own requests and no others`() async throws {
        let (bench, app) = try await bench()
        bench.bench.sendGuard.change(SendGuard.Limits(ceiling: 2))
        for name in ["sender", "other"] { try await bench.call(.post, "/api/v1/keys", ["name": .string(name), "rights": ["Send"]]) }
        let rules = bench.namespace.rules
        let sender = try #require(rules.first { $0.name == "sender" })
        let other = try #require(rules.first { $0.name == "other" })
        let path = "/api/v1/hubs/hub/notifications"
        for rule in [app, sender, other] {
            #expect(await refusal { try await bench.call(.post, path, Self.body, by: rule) }?.code == "approval.required")
        }
        #expect(try await bench.call(.get, "/api/v1/approvals", by: sender)["items"]?.array?.map { $0["id"] } == ["a-2"])
        #expect(try await bench.call(.get, "/api/v1/approvals/a-2", by: sender)["state"] == "pending")
        let foreign = await refusal { try await bench.call(.get, "/api/v1/approvals/a-3", by: sender) }
        #expect(foreign?.code == "approval.not_found" && foreign?.hint == "did you mean \"a-2\"?")
        #expect(await refusal { try await bench.call(.post, "/api/v1/approvals/a-3/deny", [:], by: sender) }?.status == 404)
        #expect(await refusal { try await bench.call(.post, "/api/v1/approvals/a-2/approve", [:], by: sender) }?.code == "sas.forbidden")
        let back = try await bench.call(.post, "/api/v1/approvals/a-2/deny", ["reason": "a typo"], by: sender)
        #expect(back["state"] == "denied" && back["decidedBy"] == "key:sender")
        #expect(try await bench.call(.get, "/api/v1/approvals")["items"]?.array?.count == 3)
    }

    @Test func `An approved send that fails reports the reason and its plan`() async throws {
        let (bench, app) = try await bench()
        let content: JSON = ["apns": ["payload": ["aps": ["alert": "Outage"]]]]
        let plan =
            try await bench.call(
                .post, "/api/v1/hubs/hub/plans", ["audience": ["tagExpression": "sports"], "native": content])["planId"] ?? .null
        let body: JSON = ["audience": ["plan": plan]]
        #expect(
            await refusal { try await bench.call(.post, "/api/v1/hubs/hub/notifications", body, by: app) }?.code == "approval.required")
        #expect(
            try await bench.call(.get, "/api/v1/approvals/a-1")["audience"] == .string("the devices of plan \(plan.plainText), tags sports")
        )
        _ = try await bench.hub.createRegistration(RegistrationDescription(handle: .phone(9), tags: [try PushModel.Tag("sports")]))
        let error = await refusal { try await bench.call(.post, "/api/v1/approvals/a-1/approve", [:]) }
        #expect(error?.code == "plan.drifted" && error?.hint == "the request has ended; key:hub/app can send again")
        #expect(error?.message.hasPrefix("a-1 was approved and cannot be sent: the audience of plan") == true)
        let shown = try await bench.call(.get, "/api/v1/approvals/a-1")
        #expect(shown["state"] == "failed" && shown["failure"]?.string?.contains("has drifted") == true)
    }

    @Test func `Holders of every right cannot approve their own sends`() async throws {
        let (bench, _) = try await bench()
        bench.bench.sendGuard.change(SendGuard.Limits(ceiling: 2))
        #expect(await refusal { try await bench.call(.post, "/api/v1/hubs/hub/notifications", Self.body) }?.code == "approval.required")
        #expect(await refusal { try await bench.call(.post, "/api/v1/approvals/a-1/approve", [:]) }?.code == "approval.own")
        try await bench.call(.post, "/api/v1/keys", ["name": "second", "rights": ["Manage"]])
        let second = try #require(bench.namespace.rules.last)
        let denied = try await bench.call(.post, "/api/v1/approvals/a-1/deny", ["reason": "not now"], by: second)
        #expect(denied["state"] == "denied" && denied["decidedBy"] == "key:second")
        #expect(try await bench.call(.get, "/api/v1/approvals/a-1")["native"] == nil)
        #expect(try await bench.hub.notifications(before: nil, limit: 9).isEmpty)
    }

    @Test func `Approvals apply to each kind of send through the hub's own interface`() async throws {
        let (bench, app) = try await bench()
        let routes = MessageRoutes(access: bench.bench.access)
        func request(_ more: [HTTPField], query: String = "", body: String = #"{"aps":{"alert":"x"}}"#) throws -> WebRequest {
            let token = SASToken(minting: "sb://localhost/", rule: app, expiration: HubBench.startTime + .seconds(60))
            let format = HTTPField(name: try #require(.init("ServiceBusNotification-Format")), value: "apple")
            return bench.bench.unsigned(
                "/hub/messages", query: query, body: body,
                fields: HTTPFields([HTTPField(name: .authorization, value: token.header), format] + more))
        }
        func field(_ name: String, _ value: String) throws -> HTTPField { HTTPField(name: try #require(.init(name)), value: value) }
        let note = try field("ServiceBusNotification-Note", "to all")
        let everyone = await refusal { try await routes.send("hub", try request([note])) }
        #expect(everyone?.code == "approval.required" && everyone?.details["approval"] == "a-1")
        #expect(await refusal { try await routes.send("hub", try request([])) }?.details["approval"] == "a-1")
        let time = try field("ServiceBusNotification-ScheduleTime", "2026-01-06T09:00:00Z")
        #expect(await refusal { try await routes.schedule("hub", try request([time])) }?.details["approval"] == "a-2")
        #expect(await refusal { try await routes.send("hub", try request([], query: "test")) }?.details["approval"] == "a-3")
        #expect(try await bench.hub.notifications(before: nil, limit: 9).isEmpty)
        #expect(try await bench.call(.get, "/api/v1/approvals/a-1")["note"] == "to all")
        #expect(try await bench.call(.get, "/api/v1/approvals/a-2")["at"] == "2026-01-06T09:00:00.000Z")
        // Two devices are within the key's ceiling.
        try await bench.hub.deleteRegistration(
            try #require(try await bench.hub.registrations(.all, page: Page()).registrations.first).id, ifMatch: nil)
        #expect(try await routes.send("hub", try request([])).status == .created)
        await bench.bench.bench.settle()
    }
}
