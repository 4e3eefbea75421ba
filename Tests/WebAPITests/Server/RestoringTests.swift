import HubWire
import PushCore
import Storage
import Support
import Testing

@testable import WebAPI

/// A namespace whose data are exchanged while it is asked.
@Suite struct RestoringTests {
    @Test func `While a backup is restored everything is told to wait; then the hubs are those of the backup`() async throws {
        let bench = try await RouteBench()
        let namespace = bench.access.namespace
        let other: any NamespaceStore = MemoryNamespaceStore()
        let record = try #require(namespace.hub("hub")?.record)
        try await other.putRules(namespace.rules)
        try await other.putHub(
            HubRecord(number: 7, name: "other", description: record.description, createdAt: record.createdAt, updatedAt: record.updatedAt))
        let asked = try bench.request("/hub/registrations")
        try await namespace.restore({ other }) { willReplace throws(PushError) in
            // Until it is known that the backup is good, nobody notices.
            _ = try bench.access.hub("hub", .listen, asked)
            await willReplace()
            let refusals = [
                await refusal { _ = try bench.access.hub("hub", .listen, asked) },
                await refusal { _ = try await namespace.create("new", HubDescription()) },
                await refusal { try await namespace.delete("hub") },
                await refusal { _ = try await namespace.addRule("new", [.send], to: nil) },
                await refusal { try await namespace.restore({ other }) { _ in } },
            ]
            for error in refusals {
                #expect(error?.code == "hub.restoring")
                #expect(error?.status == 503)
                #expect(error?.details["retryAfter"]?.int == 5)
            }
        }
        #expect(namespace.hubs.map(\.record.name) == ["other"])
        #expect(try await namespace.create("new", HubDescription()).number == 8)
    }

    @Test func `A restore that fails leaves the hubs as they were, and at work`() async throws {
        let bench = try await RouteBench()
        let namespace = bench.access.namespace
        for isLate in [false, true] {
            let error = await refusal {
                try await namespace.restore({ bench.store }) { willReplace throws(PushError) in
                    if isLate { await willReplace() }
                    throw PushError("storage.corrupt", "broken")
                }
            }
            #expect(error?.code == "storage.corrupt")
            let hub = try bench.access.hub("hub", .listen, try bench.request("/hub/registrations"))
            let description = RegistrationDescription(
                handle: try DeviceHandle(platform: .apns, text: String(repeating: "a1", count: 32)), tags: [])
            _ = try await hub.service.createRegistration(description)
            // A hub that was stopped would not deliver.
            let sent = try await hub.service.send(
                NotificationRequest(audience: .everyone, content: .native([.apns: NativePayload(body: Array("{}".utf8))])))
            #expect(sent.endedAt != nil)
        }
    }
}
