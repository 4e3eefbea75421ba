import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

/// Sends of a text in one call, and access with the key itself.
@Suite struct TextSendManagementTests {
    private static let path = "/api/v1/hubs/hub/send"
    private static let toAna: JSON = ["to": ["user": "ana"], "text": "Hello"]

    /// A hub with two devices of ana, one known by its installation and one by the app backend's tag, and a device of eve.
    private func bench() async throws -> ManagementBench {
        let bench = try await ManagementBench()
        try await bench.hub.putInstallation(Installation(id: "pad", userID: "ana", handle: .phone(1)))
        for (number, tag) in [(2, "username:ana"), (3, "username:eve")] {
            _ = try await bench.hub.createRegistration(
                RegistrationDescription(handle: .phone(number), tags: [try PushModel.Tag(tag)]))
        }
        return bench
    }

    private func post(
        _ bench: ManagementBench, _ body: JSON, bearer key: Secret, path: String = path, _ fields: HTTPFields = [:]
    ) async throws -> WebAnswer {
        var fields = fields
        fields[.authorization] = "Bearer \(key.reveal())"
        var request = bench.bench.unsigned(path, body: body.text(), fields: fields)
        request.method = .post
        return try await bench.bench.management.answer(request)
    }

    @Test func `A text reaches the devices of a user, and no others`() async throws {
        let bench = try await bench()
        let answer = try await bench.call(.post, Self.path, Self.toAna)
        let id = try #require(answer["notificationId"]?.string)
        #expect(answer == ["notificationId": .string(id)])
        #expect(Set(try await bench.hub.finish(id).devices.map(\.handle)) == [.phone(1), .phone(2)])
        #expect(Set(bench.bench.connector.bodies) == [#"{"aps":{"alert":"Hello"}}"#])
        let noted = await bench.bench.noted()
        #expect(noted.count == 1 && noted[0].hasPrefix("key:\(Namespace.rootRule) notification.send \(id) audience=tags "), "\(noted)")
        #expect(noted[0].hasSuffix(" hub=hub interface=management") && !noted[0].contains("Hello"), "\(noted)")
    }

    @Test func `A text reaches a device by its token, without a registration`() async throws {
        let bench = try await ManagementBench()
        let answer = try await bench.call(
            .post, Self.path, ["to": ["platform": "apns", "token": .string(DeviceHandle.phone(7).text)], "text": "Hello"])
        #expect(try await bench.hub.finish(answer["notificationId"]?.string ?? "").devices.map(\.handle) == [.phone(7)])
        let android = try await bench.call(.post, Self.path, ["to": ["platform": "fcm", "token": "abc:1"], "text": "Hi"])
        #expect(try await bench.hub.finish(android["notificationId"]?.string ?? "").devices.map(\.handle) == [.fcmV1(token: "abc:1")])
        #expect(bench.bench.connector.bodies.last == #"{"message":{"notification":{"body":"Hi"}}}"#)
        let subscription: JSON = [
            "endpoint": "https://push.example/send/1",
            "keys": ["p256dh": .string("B" + String(repeating: "A", count: 86)), "auth": .string(String(repeating: "a", count: 22))],
        ]
        for token in [subscription, .string(subscription.text())] {
            let browser = try await bench.call(.post, Self.path, ["to": ["platform": "browser", "token": token], "text": "Hi"])
            let stored = try await bench.hub.notification(browser["notificationId"]?.string ?? "")
            #expect(stored.request.audience == .device(.subscription))
        }
        await bench.bench.bench.settle()
    }

    @Test func `Anything but one recipient and a text is refused`() async throws {
        let bench = try await bench()
        let token = JSON.string(DeviceHandle.phone(7).text)
        for (body, code) in [
            ([:], "request.body"), (["text": "Hello"], "request.body"), (["to": ["user": "ana"]], "request.body"),
            (["to": [:], "text": "Hello"], "request.body"), (["to": "ana", "text": "Hello"], "request.body"),
            (["to": ["user": "ana"], "text": ""], "request.body"),
            (["to": ["user": "ana"], "text": "Hello", "title": "x"], "request.body"),
            (["to": ["user": "ana", "tag": "x"], "text": "Hello"], "request.body"),
            (["to": ["user": "ana", "platform": "apns", "token": token], "text": "Hello"], "request.body"),
            (["to": ["user": "ana", "platform": "apns"], "text": "Hello"], "request.body"),
            (["to": ["token": token], "text": "Hello"], "request.body"), (["to": ["platform": "apns"], "text": "Hello"], "request.body"),
            (["to": ["platform": "adm", "token": token], "text": "Hello"], "request.body"),
            (["to": ["user": "a b"], "text": "Hello"], "request.body"),
            (["to": ["platform": "apns", "token": "short"], "text": "Hello"], "handle.invalid"),
            (["to": ["platform": "fcm", "token": [:]], "text": "Hello"], "handle.invalid"),
        ] as [(JSON, String)] {
            let error = await refusal { try await bench.call(.post, Self.path, body) }
            #expect(error?.code == code && error?.status == 400, "\(body): \(error?.message ?? "accepted")")
        }
        #expect(try await bench.hub.notifications(before: nil, limit: 9).isEmpty)
    }

    @Test func `A send above the ceiling needs approval, as other sends do`() async throws {
        let bench = try await bench()
        bench.bench.sendGuard.change(SendGuard.Limits(ceiling: 1))
        let error = await refusal { try await bench.call(.post, Self.path, Self.toAna) }
        #expect(error?.code == "approval.required" && error?.status == 403)
        _ = try await bench.call(.post, Self.path, ["to": ["user": "eve"], "text": "Hello"])
        await bench.bench.bench.settle()
    }

    @Test func `The same idempotency key sends once`() async throws {
        let bench = try await bench()
        let key = try bench.root.primaryKey
        var ids: Set<String> = []
        for number in 1...2 {
            let answer = try await post(bench, Self.toAna, bearer: key, [.idempotencyKey: "k"])
            #expect(answer.status == .accepted && (answer.fields[.idempotencyReplayed] == "true") == (number == 2))
            let id = try #require(try JSON(parsing: answer.body)["notificationId"]?.string)
            #expect(answer.fields[.location] == "http://localhost/api/v1/hubs/hub/notifications/\(id)")
            ids.insert(id)
        }
        let other: JSON = ["to": ["user": "ana"], "text": "Other"]
        #expect(await refusal { try await post(bench, other, bearer: key, [.idempotencyKey: "k"]) }?.status == 422)
        #expect(ids.count == 1)
        #expect(try await bench.hub.notifications(before: nil, limit: 9).count == 1)
        #expect(await bench.bench.noted().count == 1)
        await bench.bench.bench.settle()
    }

    @Test func `Both keys of a rule with Send are accepted as bearer tokens, of the hub and of the server`() async throws {
        let bench = try await bench()
        let full = try bench.rule(Namespace.fullRule)
        for key in [full.primaryKey, full.secondaryKey, try bench.root.primaryKey] {
            #expect(try await post(bench, Self.toAna, bearer: key).status == .accepted)
        }
        let actors = await bench.bench.noted().map { String($0.prefix { $0 != " " }) }
        #expect(actors == ["key:hub/\(Namespace.fullRule)", "key:hub/\(Namespace.fullRule)", "key:\(Namespace.rootRule)"])
        await bench.bench.bench.settle()
    }

    @Test func `Other bearer keys are refused, and other routes accept none`() async throws {
        let bench = try await bench()
        try await bench.call(.post, "/api/v1/hubs", ["name": "other"])
        let full = try bench.rule(Namespace.fullRule)
        let listen = await refusal { try await post(bench, Self.toAna, bearer: try bench.rule(Namespace.listenRule).primaryKey) }
        #expect(listen?.code == "sas.forbidden" && listen?.status == 403)
        for key in [try bench.rule(Namespace.fullRule, of: "other").primaryKey, Secret("guess"), Secret("")] {
            let error = await refusal { try await post(bench, Self.toAna, bearer: key) }
            #expect(error?.status == 401)
        }
        try await bench.call(.post, "/api/v1/hubs/hub/keys/\(Namespace.fullRule)/rotate", ["key": "primary"])
        #expect(await refusal { try await post(bench, Self.toAna, bearer: full.primaryKey) }?.code == "sas.signature")
        let elsewhere: JSON = ["audience": ["broadcast": "everyone"], "message": ["message": "x"]]
        let refused = await refusal {
            try await post(bench, elsewhere, bearer: full.secondaryKey, path: "/api/v1/hubs/hub/notifications")
        }
        #expect(refused?.code == "sas.malformed" && refused?.status == 401)
        #expect(try await bench.hub.notifications(before: nil, limit: 9).isEmpty)
    }

    @Test func `The API document has both kinds of access`() throws {
        let document = OpenAPIDocument(routes: ManagementRoute.all).json
        let operation = try #require(document["paths"]?["/api/v1/hubs/{hub}/send"]?["post"])
        #expect(operation["security"] == [["key": []], ["sas": []]] && operation["responses"]?["202"] != nil)
        #expect(document["components"]?["securitySchemes"]?["key"]?["scheme"] == "bearer")
        #expect(document["paths"]?["/api/v1/hubs/{hub}/notifications"]?["post"]?["security"] == nil)
    }
}
