import HubWire
import PushHub
import PushModel
import Storage
import Support
import Testing

@testable import WebAPI

/// A namespace whose data is replaced while requests arrive.
@Suite struct RestoringTests {
    @Test func `While a backup is restored all requests have to wait, and afterwards the hubs are those of the backup`() async throws {
        let bench = try await RouteBench()
        let namespace = bench.access.namespace
        let other: any NamespaceStore = MemoryNamespaceStore()
        let record = try #require(namespace.hub("hub")?.record)
        try await other.putRules(namespace.rules)
        try await other.putHub(
            HubRecord(number: 7, name: "other", description: record.description, createdAt: record.createdAt, updatedAt: record.updatedAt))
        let asked = try bench.request("/hub/registrations")
        try await namespace.restore({ other }) { willReplace throws(PushError) in
            // Requests are answered until the backup is known to be valid.
            _ = try bench.access.hub("hub", .listen, asked)
            await willReplace()
            let refusals = [
                await refusal { _ = try bench.access.hub("hub", .listen, asked) },
                await refusal { _ = try await namespace.create("new", HubDescription()) },
                await refusal { try await namespace.delete("hub") },
                await refusal { _ = try await namespace.ruleEditor.add("new", [.send], to: nil) },
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

    @Test func `A failed restore leaves the hubs unchanged and working`() async throws {
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
            // A stopped hub would not deliver.
            let sent = try await hub.service.send(
                NotificationRequest(audience: .everyone, content: .native([.apns: NativePayload(body: Array("{}".utf8))])))
            #expect(sent.endedAt != nil)
        }
    }
}
