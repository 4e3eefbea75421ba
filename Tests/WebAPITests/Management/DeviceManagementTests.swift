import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct DeviceManagementTests {
    private func tags(_ texts: String...) throws -> [PushModel.Tag] { try texts.map { try PushModel.Tag($0) } }

    /// Three installations and two registrations; the push to phone 1 failed.
    private func devices() async throws -> ManagementBench {
        let bench = try await ManagementBench()
        let hub = try bench.hub
        let template = ["greeting": InstallationTemplate(body: #"{"aps":{"alert":"$(message)"}}"#)]
        try await hub.putInstallation(
            Installation(id: "a1", userID: "alice", handle: .phone(1), tags: tags("news"), templates: template))
        try await hub.putInstallation(
            Installation(id: "a2", userID: "Alice", handle: .fcmV1(token: "abcdefghijklmnopq"), tags: tags("news")))
        try await hub.putInstallation(Installation(id: "b1", userID: "bob", handle: .phone(2), tags: tags("sport")))
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(3), tags: tags("username:alice", "news")))
        _ = try await hub.createRegistration(
            RegistrationDescription(
                handle: .phone(4), tags: tags("sport"),
                template: try RegistrationTemplate(name: "t", body: #"{"aps":{"alert":"$(message)"}}"#, platform: .apns)))
        bench.bench.connector.script(.phone(1), .rejected(.invalidHandle("BadTopic", status: 400)))
        return bench
    }

    @Test func `Installations are filtered by all given conditions together`() async throws {
        let bench = try await devices()
        let path = "/api/v1/hubs/hub/installations"
        for (query, ids) in [
            ("", ["a1", "a2", "b1"]), ("user=alice", ["a1", "a2"]), ("user=alice&platform=fcm", ["a2"]), ("tag=NEWS", ["a1", "a2"]),
            ("tag=greeting", ["a1"]), ("user=bob&tag=news", []), ("platform=apns&tag=sport", ["b1"]), ("user=nobody", []),
            ("tag=$InstallationId:%7Bb1%7D", ["b1"]),
        ] {
            #expect(try await bench.list("\(path)?\(query)", "installationId") == ids, "\(query)")
        }
        let (items, sizes) = try await bench.pages("\(path)?top=2")
        #expect(items.compactMap { $0["installationId"]?.string } == ["a1", "a2", "b1"] && sizes == [2, 1])
        let expected: JSON = [
            "installationId": "a2", "platform": "fcm", "userId": "Alice", "tags": ["news"], "handle": "abcdef…nopq", "templates": [],
            "expirationTime": "9999-12-31T23:59:59.999Z",
        ]
        #expect(items[1] == expected)
        #expect(try await bench.call(.get, "\(path)/a2") == expected)
        #expect(items[0]["templates"] == ["greeting"])
        #expect(await refusal { try await bench.call(.get, "\(path)/A2") }?.code == "hub.not_found")
    }

    @Test func `Devices are found by the outcome of their last push`() async throws {
        let bench = try await devices()
        _ = try await bench.hub.send(.alert(to: "news"))
        #expect(try await bench.list("/api/v1/hubs/hub/installations?lastOutcome=Success", "installationId") == ["a2"])
        let registrations = try await bench.pages("/api/v1/hubs/hub/registrations?lastOutcome=Success").items
        #expect(registrations.count == 1 && registrations[0]["tags"] == ["username:alice", "news"])
        #expect(try await bench.call(.get, "/api/v1/hubs/hub/installations/a2")["lastOutcome"] == "Success")
    }

    @Test func `Registrations are the standalone ones, and a user's are found by either tag that names the user`() async throws {
        let bench = try await devices()
        let path = "/api/v1/hubs/hub/registrations"
        for (query, handles) in [
            ("", ["000000…0003", "000000…0004"]), ("user=Alice", ["000000…0003"]), ("tag=sport", ["000000…0004"]),
            ("tag=sport&user=alice", []), ("platform=apns&top=1", ["000000…0003", "000000…0004"]), ("platform=wns", []),
        ] {
            #expect(try await bench.list("\(path)?\(query)", "handle") == handles, "\(query)")
        }
        #expect(try await bench.pages(path + "?").items.map { $0["template"] } == [nil, "t"])
    }

    @Test func `Tags are listed by number of registrations, then by name, page by page`() async throws {
        let bench = try await devices()
        let path = "/api/v1/hubs/hub/tags"
        let (items, _) = try await bench.pages(path + "?")
        #expect(
            items == [
                ["tag": "news", "registrations": 4], ["tag": "sport", "registrations": 2], ["tag": "greeting", "registrations": 1],
                ["tag": "username:alice", "registrations": 1],
            ])
        #expect(try await bench.list("\(path)?prefix=USER", "tag") == ["username:alice"])
        let paged = try await bench.pages("\(path)?top=1")
        #expect(paged.items == items && paged.sizes == [1, 1, 1, 1])
        try await bench.hub.putInstallation(Installation(id: "c", handle: .phone(9), tags: tags("Zürich.x")))
        #expect(try await bench.list("\(path)?top=1&prefix=z%C3%BC", "tag") == ["Zürich.x"])
        // A tag may begin with a combining mark.
        try await bench.hub.putInstallation(Installation(id: "d", handle: .phone(8), tags: tags("\u{301}a")))
        #expect(try await bench.pages("\(path)?top=1").sizes == [1, 1, 1, 1, 1, 1])
    }
}
