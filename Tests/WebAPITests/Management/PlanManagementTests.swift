import HTTPTypes
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct PlanManagementTests {
    private static let path = "/api/v1/hubs/hub/plans"

    private func register(_ bench: ManagementBench, _ number: Int, _ tags: [String] = ["news"]) async throws {
        _ = try await bench.hub.createRegistration(
            RegistrationDescription(handle: .phone(number), tags: try tags.map { try PushModel.Tag($0) }))
    }

    private static let alert: JSON = ["apns": ["payload": ["aps": ["alert": "Hi"]]]]

    private static func plan(_ tags: String = "news", _ native: JSON? = alert) -> JSON {
        var body: JSONObject = ["audience": ["tagExpression": .string(tags)]]
        body["native"] = native
        return .object(body)
    }

    private static func send(_ plan: String, _ members: JSONObject = [:]) -> JSON {
        var body: JSONObject = ["audience": ["plan": .string(plan)]]
        for (name, value) in members.members { body[name] = value }
        return .object(body)
    }

    @Test func `A plan shows its recipients, is stored, listed and shown, and its devices are paged`() async throws {
        let bench = try await ManagementBench()
        for number in 1...5 { try await register(bench, number) }
        try await bench.hub.putInstallation(
            Installation(id: "pad", userID: "ana", handle: .phone(9), tags: [try PushModel.Tag("news")]))
        let rule = try bench.rule("DefaultFullSharedAccessSignature")
        let plan = try await bench.call(.post, Self.path, Self.plan(), by: rule, for: "sb://localhost/hub")
        #expect(plan["planId"] == "p-0001" && plan["total"] == 6 && plan["plannedBy"] == .string("key:hub/\(rule.name)"))
        #expect(plan["groups"]?.array?.first?["bytes"] == 22)
        #expect(try await bench.call(.get, "\(Self.path)/p-0001") == plan)
        #expect(try await bench.hub.notifications(before: nil, limit: 9).isEmpty)
        let (devices, sizes) = try await bench.pages("\(Self.path)/p-0001/devices?top=4")
        #expect(sizes == [4, 2] && devices.last?["installationId"] == "pad" && devices.last?["user"] == "ana")
        #expect(devices.allSatisfy { $0["handle"]?.string?.contains("…") == true })
        _ = try await bench.call(.post, Self.path, Self.plan())
        #expect(try await bench.list("\(Self.path)?top=1", "planId") == ["p-0002", "p-0001"])
    }

    @Test func `A plan that is not stored has no id, and one without content has only an audience`() async throws {
        let bench = try await ManagementBench()
        try await register(bench, 1)
        let plan = try await bench.call(.post, Self.path, ["audience": ["broadcast": "everyone"], "keep": false])
        #expect(plan["planId"] == nil && plan["total"] == 1 && plan["groups"] == [] && plan["audience"] == ["broadcast": "everyone"])
        #expect(try await bench.pages(Self.path).items.isEmpty)
    }

    @Test func `A send to a plan reaches its devices, and is refused if they have drifted`() async throws {
        let bench = try await ManagementBench()
        for number in 1...3 { try await register(bench, number) }
        _ = try await bench.call(.post, Self.path, Self.plan())
        try await register(bench, 4)
        let notifications = "/api/v1/hubs/hub/notifications"
        let drifted = try #require(await refusal { try await bench.call(.post, notifications, Self.send("p-0001")) })
        #expect(drifted.code == "plan.drifted" && drifted.status == 409)
        let problem = ProblemDocument(error: drifted, trackingID: "t").json
        try ProblemDocument.schema.check(problem, "problem")
        #expect(problem["drift"]?["joined"] == 1 && problem["drift"]?["left"] == 0)
        #expect(problem["drift"]?["firstJoined"]?.array?.count == 1)
        let answer = try await bench.call(.post, notifications, Self.send("p-0001", ["tolerance": "40%"]))
        let id = try #require(answer["notificationId"]?.string)
        #expect(try await bench.hub.finish(id).devices.map(\.handle) == [.phone(1), .phone(2), .phone(3)])
        // The same content may be given; another one is refused.
        let same = Self.send("p-0001", ["tolerance": "1", "native": Self.alert])
        _ = try await bench.call(.post, notifications, same)
        let other = Self.send("p-0001", ["tolerance": "1", "message": ["a": "b"]])
        #expect(await refusal { try await bench.call(.post, notifications, other) }?.code == "plan.content")
    }

    @Test func `Invalid plans are refused`() async throws {
        let bench = try await ManagementBench()
        for (body, code) in [
            (["audience": [:]], "request.body"), (["audience": ["tagExpression": "a &&"]], "tag_expression.invalid"),
            (["audience": ["plan": "p-0001"]], "request.body"), (["audience": ["broadcast": "all"]], "request.body"),
            (["audience": ["broadcast": "everyone"], "message": [:], "native": [:]], "request.body"),
            (["audience": ["broadcast": "everyone"], "native": [:]], "payload.empty"),
            (["audience": ["broadcast": "everyone"], "native": ["apns": ["payload": "no JSON"]]], "payload.invalid"),
        ] as [(JSON, String)] {
            #expect(await refusal { try await bench.call(.post, Self.path, body) }?.code == code, "\(body)")
        }
        let notifications = "/api/v1/hubs/hub/notifications"
        for (body, code) in [
            (Self.send("p-0001"), "plan.not_found"), (Self.send("p-0001", ["tolerance": "some"]), "plan.tolerance"),
            (["audience": ["broadcast": "everyone"], "message": ["a": "b"], "tolerance": "1"], "request.body"),
            (["audience": ["broadcast": "everyone"]], "request.body"),
        ] as [(JSON, String)] {
            #expect(await refusal { try await bench.call(.post, notifications, body) }?.code == code, "\(body)")
        }
        let several = "tagExpression, broadcast and plan"
        for (audience, message) in [
            (["plan": "p-0001", "broadcast": "everyone"], "audience has broadcast and plan, which cannot be combined"),
            ([:], "audience has none of \(several)"),
        ] as [(JSON, String)] {
            let error = await refusal { try await bench.call(.post, notifications, ["audience": audience, "message": ["a": "b"]]) }
            #expect(error?.message == message && error?.hint == "give just one of \(several)")
        }
        for place in ["p-0001", "p-0001/devices", "nonsense"] {
            #expect(await refusal { try await bench.call(.get, "\(Self.path)/\(place)") }?.status == 404)
        }
        let listen = try bench.rule("DefaultListenSharedAccessSignature")
        let denied = await refusal { try await bench.call(.get, Self.path, by: listen, for: "sb://localhost/hub") }
        #expect(denied?.status == 401 || denied?.status == 403)
    }
}
