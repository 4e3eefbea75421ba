import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

/// Audit entries of the interfaces.
@Suite struct AuditManagementTests {
    @Test func `Every change has an entry with its actor, and no entry has a secret`() async throws {
        let bench = try await ManagementBench()
        let root = "key:RootManageSharedAccessKey"
        try await bench.call(.post, "/api/v1/hubs", ["name": "news"])
        let made = try await bench.call(.post, "/api/v1/keys", ["name": "ops", "rights": ["Manage"]])
        let ops = try #require(bench.namespace.rules.last)
        let full = try bench.rule(Namespace.fullRule)
        try await bench.call(.post, "/api/v1/hubs/hub/keys", ["name": "app", "rights": ["Send", "Listen"]], by: full)
        try await bench.call(.post, "/api/v1/hubs/hub/keys/app/rotate", ["key": "secondary"], by: ops)
        try await bench.call(.get, "/api/v1/keys?reveal=true")
        try await bench.call(.get, "/api/v1/keys")
        try await bench.call(.delete, "/api/v1/hubs/hub/keys/app", by: ops)
        try await bench.call(.post, "/api/v1/users", ["username": "ana", "password": "correct horse"])
        try await bench.call(.put, "/api/v1/users/ana/password", ["password": "battery staple"])
        try await bench.call(.delete, "/api/v1/users/ana")
        let sent = try await bench.call(
            .post, "/api/v1/hubs/hub/notifications", ["audience": ["broadcast": "everyone"], "message": ["message": "secret words"]],
            by: full)
        let id = try #require(sent["notificationId"]?.string)
        try await bench.call(.post, "/api/v1/hubs/hub/pruned/restore", ["all": "everyone"])
        try await bench.call(.post, "/api/v1/hubs/hub/pruned/restore", ["all": "everyone", "dryRun": true])
        try await bench.call(.delete, "/api/v1/hubs/news")
        let recorded = await bench.bench.noted()
        #expect(
            recorded == [
                "\(root) hub.create news", "\(root) key.create key:ops rights=Manage",
                "key:hub/\(Namespace.fullRule) key.create key:hub/app rights=Send, Listen",
                "key:ops key.rotate key:hub/app value=secondary",
                "\(root) key.reveal keys of the server", "key:ops key.revoke key:hub/app", "\(root) user.create ana",
                "\(root) user.password ana", "\(root) user.delete ana",
                "key:hub/\(Namespace.fullRule) notification.send \(id) audience=everyone content=templates with message (12 bytes) hub=hub "
                    + "interface=management", "\(root) pruned.restore 0 devices of the hub hub selection=all", "\(root) hub.delete news",
            ], "\(recorded)")
        for secret in ["correct horse", "battery staple", "secret words", made["primaryKey"]?.string ?? "", ops.secondaryKey.reveal()] {
            #expect(!recorded.contains { $0.contains(secret) })
        }
    }

    @Test func `Every route that changes something has an audit action`() {
        // The guard writes the entries about decisions.
        let reading = ["render", "makePlan", "checkHubCredentials", "proveTags", "approve", "deny"]
        for route in ManagementRoute.all where route.operation.method != .get {
            #expect((route.audit == nil) == reading.contains(route.operation.name), "\(route.operation.name)")
        }
    }

    @Test func `A refused change has no entry`() async throws {
        let bench = try await ManagementBench()
        #expect(await refusal { try await bench.call(.post, "/api/v1/hubs", ["name": "hub"]) }?.code == "hub.exists")
        #expect(await refusal { try await bench.call(.delete, "/api/v1/keys/none") }?.code == "key.not_found")
        #expect(await bench.bench.noted() == [])
    }

    @Test func `A known key without the right has an entry with its name, an invalid token has none`() async throws {
        let bench = try await ManagementBench()
        let listen = try bench.rule(Namespace.listenRule)
        #expect(await refusal { try await bench.call(.delete, "/api/v1/hubs/hub", by: listen) }?.code == "sas.forbidden")
        var wrong = listen
        wrong.primaryKey = Secret(String(repeating: "A", count: 43) + "=")
        #expect(await refusal { try await bench.call(.delete, "/api/v1/hubs/hub", by: wrong) }?.code == "sas.signature")
        try await until { await bench.bench.noted().count > 0 }
        #expect(
            await bench.bench.noted() == [
                "key:hub/\(Namespace.listenRule) access.refuse refused DELETE /api/v1/hubs/hub why=key \"\(Namespace.listenRule)\" lacks the right Manage"
            ])
    }

    @Test func `The log is listed in both directions and filtered, and its chain is verified`() async throws {
        let bench = try await ManagementBench()
        for number in 1...5 { try await bench.call(.post, "/api/v1/keys", ["name": .string("k\(number)"), "rights": ["Send"]]) }
        try await bench.call(.delete, "/api/v1/keys/k3")
        func subjects(_ query: String) async throws -> [String] { try await bench.list("/api/v1/audit?\(query)", "subject") }
        #expect(try await subjects("top=2") == ["key:k3", "key:k5", "key:k4", "key:k3", "key:k2", "key:k1"])
        #expect(try await subjects("top=4&oldestFirst=true") == ["key:k1", "key:k2", "key:k3", "key:k4", "key:k5", "key:k3"])
        #expect(try await subjects("action=key.revoke") == ["key:k3"])
        #expect(try await subjects("actor=key:nobody") == [])
        #expect(try await subjects("since=2100-01-01T00:00:00Z") == [])
        #expect(await refusal { try await subjects("since=yesterday") }?.code == "request.body")
        let answer = try await bench.call(.get, "/api/v1/audit/verification")
        #expect(answer["whole"] == true && answer["entries"] == 6)
        let end = try #require(answer["end"]?.string)
        #expect(try await bench.call(.get, "/api/v1/audit/verification?expect=\(end)") == answer)
        let other = "6:" + String(repeating: "0", count: 64)
        let broken = try await bench.call(.get, "/api/v1/audit/verification?expect=\(other)")
        #expect(broken["whole"] == false && broken["reason"] == "replaced" && broken["brokenAt"] == 6)
        #expect(await refusal { try await bench.call(.get, "/api/v1/audit/verification?expect=6:00") }?.code == "request.parameter")
    }

    @Test func `Broadcasts, scheduled sends and cancellations through the hub's own interface have entries`() async throws {
        let bench = try await RouteBench()
        let routes = MessageRoutes(access: bench.access)
        func send(_ fields: [HTTPField], scheduled: Bool = false) async throws {
            var request = try bench.request("/hub/messages", body: #"{"message":"x"}"#)
            let token = request.fields[.authorization] ?? ""
            request = bench.unsigned(
                "/hub/messages", body: #"{"message":"x"}"#,
                fields: HTTPFields([HTTPField(name: .authorization, value: token)] + fields))
            let answer = scheduled ? try await routes.schedule("hub", request) : try await routes.send("hub", request)
            #expect(answer.status == .created)
        }
        let format = HTTPField(name: try #require(.init("ServiceBusNotification-Format")), value: "template")
        let tags = HTTPField(name: try #require(.init("ServiceBusNotification-Tags")), value: "sports")
        let time = HTTPField(name: try #require(.init("ServiceBusNotification-ScheduleTime")), value: "2026-01-06T09:00:00Z")
        try await send([format, tags])
        #expect(await bench.noted() == [])
        try await send([format])
        try await send([format, tags, time], scheduled: true)
        let recorded = await bench.noted()
        #expect(recorded.count == 2)
        #expect(recorded.first?.contains("audience=everyone content=templates with message (1 bytes) hub=hub interface=hub") == true)
        #expect(recorded.last?.contains("at=2026-01-06T09:00:00.000Z audience=tags sports") == true, "\(recorded)")
        let id = try #require(await bench.access.namespace.hub("hub")?.service.notifications(before: nil, limit: 1).first?.outcome.id)
        _ = try await routes.cancel(id, of: "hub", try bench.request("/hub/schedulednotifications/\(id)"))
        #expect(await bench.noted().last == "key:hub/\(Namespace.fullRule) notification.cancel \(id) hub=hub")
        await bench.bench.settle()
    }
}
