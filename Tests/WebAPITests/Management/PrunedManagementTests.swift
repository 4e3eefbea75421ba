import HTTPTypes
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct PrunedManagementTests {
    private static let path = "/api/v1/hubs/hub/pruned"

    private func bench(_ count: Int) async throws -> (ManagementBench, NotificationOutcome) {
        let bench = try await ManagementBench()
        for number in 1...count {
            _ = try await bench.hub.createRegistration(RegistrationDescription(handle: .phone(number), tags: [try PushModel.Tag("t")]))
            bench.bench.connector.script(.phone(number), .rejected(.invalidHandle()))
        }
        return (bench, try await bench.hub.send(.alert()))
    }

    @Test func `removed devices are listed page by page, and restored by filter`() async throws {
        let (bench, outcome) = try await bench(5)
        let (items, sizes) = try await bench.pages("\(Self.path)?top=2")
        #expect(sizes == [2, 2, 1] && items.allSatisfy { $0["reason"] == "Unregistered" && $0["tags"] == ["t"] })
        #expect(items.allSatisfy { $0["notificationId"] == .string(outcome.id) })
        let id = try #require(items[0]["registrationId"]?.string)
        #expect(try await bench.list("\(Self.path)?id=\(id)", "registrationId") == [id])
        #expect(try await bench.list("\(Self.path)?reason=Other", "registrationId") == [])
        #expect(try await bench.list("\(Self.path)?since=9999-01-01T00:00:00Z", "registrationId") == [])
        let notification = try await bench.call(.get, "/api/v1/hubs/hub/notifications/\(outcome.id)")
        #expect(notification["pruned"] == ["apns": ["Unregistered": 5]])

        let dryRun = try await bench.call(
            .post, "\(Self.path)/restore", ["filter": ["notificationId": .string(outcome.id)], "dryRun": true])
        #expect(dryRun == ["restored": 5, "registeredAgain": 0, "gone": 0, "unfit": 0, "isDryRun": true])
        #expect(try await bench.call(.post, "\(Self.path)/restore", ["filter": ["id": .string(id)]])["restored"] == 1)
        #expect(try await bench.call(.post, "\(Self.path)/restore", ["all": "everyone"])["restored"] == 4)
        #expect(try await bench.hub.size().registrations == 5)
    }

    @Test func `a request must select the devices to restore`() async throws {
        let (bench, _) = try await bench(1)
        for body: JSON in [
            [:], ["all": true], ["dryRun": true], ["filter": ["since": "yesterday"]], ["filter": ["id": ""]],
            ["filter": [:], "all": "everyone"],
        ] {
            #expect(await refusal { try await bench.call(.post, "\(Self.path)/restore", body) }?.code == "request.body")
        }
        #expect(try await bench.hub.size().registrations == 0)
    }
}
