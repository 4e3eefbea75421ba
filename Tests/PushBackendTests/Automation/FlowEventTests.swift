import PushBackend
import PushHub
import PushModel
import Storage
import Support
import Testing

@Suite struct FlowEventTests {
    private static let flow = ServedFlow(
        name: "a", script: "a.lua",
        triggers: FlowTriggers(events: [.registrationCreated, .registrationDeleted, .notificationCompleted, .tokenExpired]))

    /// A hub that stores its events in the store of the flows.
    private func hub(_ store: MemoryStorage, _ events: HubEvents, _ connector: ScriptedConnector, _ clock: VirtualClock) async throws
        -> NotificationHub
    {
        let environment = HubEnvironment(
            clock: clock, random: SeededRandom(seed: 1), start: { work in Task { await work() } }, events: events)
        return NotificationHub(
            environment: environment, connectors: [connector], store: store.namespace.store(ofHub: 1),
            settings: HubSettings(name: "news"))
    }

    @Test func `An event of a hub starts the flows that subscribe to it, with its facts`() async throws {
        let (storage, events) = (MemoryStorage(), HubEvents())
        let bench = try await AutomationBench([Self.flow], store: storage.runs, events: events)
        let connector = ScriptedConnector(clock: bench.clock, platforms: Set(Platform.delivered))
        let hub = try await hub(storage, events, connector, bench.clock)
        let made = try await hub.createRegistration(
            RegistrationDescription(handle: .phone(1), tags: [try Tag("Sports"), try Tag("lang:pt")], template: nil))
        // An update, to which no flow subscribes.
        _ = try await hub.putRegistration(
            made.id, RegistrationDescription(handle: .phone(1), tags: [try Tag("Sports")], template: nil), ifMatch: nil)
        let outcome = try await hub.send(try .alert(to: "Sports"))
        try await hub.deleteRegistration(made.id, ifMatch: nil)
        try await until { bench.executor.ends.count == 3 }
        try await bench.settle()
        let starts = bench.executor.starts
        #expect(starts.map { $0.arguments["event"] } == ["registration.created", "notification.completed", "registration.deleted"])
        #expect(starts[0].arguments["tags"] == ["Sports", "lang:pt"] && starts[0].arguments["id"] == .string(made.id.text))
        #expect(starts[1].arguments["notification_id"] == .string(outcome.id) && starts[1].arguments["sent"] == 1)
        #expect(starts.allSatisfy { $0.arguments["hub_name"] == "news" })
        #expect(try await bench.runs().first?.trigger == .event(.registrationCreated, hub: "news"))
        // The arguments of a run contain no handle.
        #expect(!JSON.object(starts[0].arguments).text().contains(DeviceHandle.phone(1).text))
        #expect(try await bench.store.events(limit: 9).isEmpty)
    }

    @Test func `An invalid token is an event, with the push service's reason`() async throws {
        let (storage, events) = (MemoryStorage(), HubEvents())
        let bench = try await AutomationBench([Self.flow], store: storage.runs, events: events)
        let connector = ScriptedConnector(clock: bench.clock, platforms: Set(Platform.delivered))
        let hub = try await hub(storage, events, connector, bench.clock)
        let made = try await hub.createRegistration(RegistrationDescription(handle: .phone(1), tags: [], template: nil))
        connector.script(.phone(1), .rejected(.invalidHandle("Unregistered")))
        _ = try await hub.send(try .alert())
        try await until { bench.executor.ends.count == 3 }
        let expiry = try #require(bench.executor.starts.first { $0.arguments["event"] == "token.expired" })
        #expect(expiry.arguments["id"] == .string(made.id.text) && expiry.arguments["reason"] == "Unregistered")
    }

    @Test func `An event without subscribers is not stored`() async throws {
        let (storage, events) = (MemoryStorage(), HubEvents())
        let bench = try await AutomationBench([ServedFlow(name: "a", script: "a.lua")], store: storage.runs, events: events)
        let connector = ScriptedConnector(clock: bench.clock, platforms: Set(Platform.delivered))
        let hub = try await hub(storage, events, connector, bench.clock)
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(1), tags: [], template: nil))
        #expect(try await storage.runs.events(limit: 9).isEmpty)
    }

    @Test func `A flow does not receive events that it caused itself, but other flows do`() async throws {
        let (storage, events) = (MemoryStorage(), HubEvents())
        var other = Self.flow
        other.name = "b"
        let bench = try await AutomationBench([Self.flow, other], store: storage.runs, events: events)
        let connector = ScriptedConnector(clock: bench.clock, platforms: Set(Platform.delivered))
        let hub = try await hub(storage, events, connector, bench.clock)
        _ = try await HookOrigin.$plugins.withValue([Self.flow.origin]) { try await hub.send(try .alert()) }
        try await until { bench.executor.ends.count == 1 }
        try await bench.settle()
        #expect(bench.executor.starts.map(\.flow) == ["b"])
        // Events caused by that run of b do not start a either.
        let run = try #require(try await bench.runs().first)
        #expect(run.origin.causes == [Self.flow.origin])
    }

    @Test func `While the queue of a flow is full, events wait and none is lost`() async throws {
        let (storage, events) = (MemoryStorage(), HubEvents())
        let bench = try await AutomationBench([Self.flow], store: storage.runs, events: events)
        bench.executor.hold("a")
        let connector = ScriptedConnector(clock: bench.clock, platforms: Set(Platform.delivered))
        let hub = try await hub(storage, events, connector, bench.clock)
        let count = 1050
        for number in 1...count {
            _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(number), tags: [], template: nil))
        }
        try await until { try await bench.runs(RunFilter(state: .queued)).count == 1000 }
        #expect(try await !storage.runs.events(limit: 1).isEmpty)
        bench.executor.letGo("a")
        try await until { bench.executor.ends.count == count }
        #expect(Set(bench.executor.starts.compactMap { $0.arguments["id"]?.string }).count == count)
    }
}
