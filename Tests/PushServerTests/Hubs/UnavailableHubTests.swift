import PushModel
import Support
import Testing

@testable import PushServer

/// The hub of plugins until the hubs of the server are open.
@Suite struct UnavailableHubTests {
    @Test func `While the server starts, sends and plans are rejected, however they are made`() async throws {
        let hub = UnavailableHub()
        let request = NotificationRequest(audience: .everyone, content: .template([:]))
        #expect(await refusal { try await hub.send(request) }?.code == "hub.stopped")
        #expect(await refusal { try await hub.schedule(request, at: HubBench.startTime) }?.code == "hub.stopped")
        #expect(await refusal { try await hub.send(PlannedSend(PlanBinding("p-0001"))) }?.code == "hub.stopped")
        #expect(await refusal { try await hub.plan(PlanRequest(audience: .everyone)) }?.code == "hub.stopped")
        #expect(await refusal { try await hub.plan("p-0001") }?.code == "hub.stopped")
    }
}
