import HTTPTypes
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct HeldRemovalManagementTests {
    private static let path = "/api/v1/hubs/hub/pruned"

    private func bench(_ count: Int) async throws -> ManagementBench {
        let bench = try await ManagementBench()
        for number in 1...count { _ = try await bench.hub.createRegistration(RegistrationDescription(handle: .phone(number), tags: [])) }
        for number in 1...count { bench.bench.connector.script(.phone(number), .rejected(.invalidHandle())) }
        try await bench.hub.change(maxRemovedShare: 0)
        return bench
    }

    @Test func `held removals are listed page by page, counted, applied and dropped`() async throws {
        let bench = try await bench(1000)
        let outcome = try await bench.hub.send(.alert())
        let page = try await bench.call(.get, "\(Self.path)/held?top=2&notificationId=\(outcome.id)")
        #expect(page["items"]?.array?.count == 2 && page["continuation"] != nil)
        #expect(page["items"]?.array?.first?["reason"] == "Unregistered")
        #expect(page["items"]?.array?.first?["heldAt"] != nil)
        let dryRun = try await bench.call(.post, "\(Self.path)/apply", ["all": "everyone", "dryRun": true])
        #expect(dryRun == ["devices": 1000, "outdated": 0, "isDryRun": true])
        let none = try await bench.call(.post, "\(Self.path)/apply", ["filter": ["reason": "Other"]])
        #expect(none["devices"] == 0)
        let applied = try await bench.call(.post, "\(Self.path)/apply", ["filter": ["notificationId": .string(outcome.id)]])
        #expect(applied["devices"] == 1000)
        #expect(try await bench.hub.size().registrations == 0)
        #expect(try await bench.call(.post, "\(Self.path)/drop", ["all": "everyone"])["devices"] == 0)
    }

    @Test func `a request must select the held removals`() async throws {
        let bench = try await bench(1)
        for name in ["apply", "drop"] {
            for body: JSON in [[:], ["all": true], ["dryRun": true], ["filter": ["id": "x"]], ["filter": [:], "all": "everyone"]] {
                #expect(await refusal { try await bench.call(.post, "\(Self.path)/\(name)", body) }?.code == "request.body")
            }
        }
    }
}
