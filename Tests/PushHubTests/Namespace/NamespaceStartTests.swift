import PushHub
import PushModel
import Storage
import Support
import Testing

/// Hubs that cannot all continue when a server starts.
@Suite struct NamespaceStartTests {
    /// Hubs in memory of which one cannot be read.
    private struct PartlyUnreadableStore: NamespaceStore {
        let base: MemoryNamespaceStore
        let unreadable: Int64

        func load() -> StoredNamespace { base.load() }
        func putRules(_ rules: [AuthorizationRule]) { base.putRules(rules) }
        func putHub(_ hub: HubRecord) throws(PushError) { try base.putHub(hub) }
        func removeHub(_ number: Int64) async { await base.removeHub(number) }

        func store(ofHub number: Int64) -> any HubStore {
            guard number == unreadable else { return base.store(ofHub: number) }
            let store = BreakableStore(base.store(ofHub: number))
            store.refuse([.read])
            return store
        }
    }

    private let bench: HubBench
    private let store = MemoryNamespaceStore()

    init() throws { bench = try HubBench() }

    private func namespace(_ store: any NamespaceStore) async throws -> Namespace {
        let connector = bench.connector
        return try await Namespace(
            environment: bench.environment, store: store,
            settings: HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true)), connectors: { _ in [connector] })
    }

    /// Hubs `a` and `z`; `a` has a notification that is due in an hour, and its id is returned.
    private func prepare() async throws -> String {
        let first = try await namespace(store)
        try await first.resume()
        for name in ["a", "z"] { _ = try await first.create(name, HubDescription()) }
        let hub = try #require(first.hub("a")?.service)
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(1), tags: []))
        let id = try await hub.accept(.alert(), at: bench.clock.now + .seconds(3600)).outcome.id
        await first.stop()
        await bench.settle()
        return id
    }

    @Test func `if one hub cannot continue, what the others have started ends with stop`() async throws {
        let id = try await prepare()
        let start = bench.clock.now
        let failed = try await namespace(PartlyUnreadableStore(base: store, unreadable: 2))
        #expect(await refusal { try await failed.resume() }?.code == "storage.unavailable")
        await failed.stop()
        // Returns only when every started task has ended, and advances the clock for those that sleep.
        await bench.settle()
        #expect(bench.clock.now == start && bench.connector.batches.isEmpty)
        let next = try await namespace(store)
        try await next.resume()
        await bench.settle()
        #expect(bench.connector.batches.count == 1)
        #expect(try await next.hub("a")?.service.outcome(of: id).state == .completed)
        await next.stop()
    }

    @Test func `loaded hubs start nothing before they resume`() async throws {
        _ = try await prepare()
        let start = bench.clock.now
        let loaded = try await namespace(store)
        await bench.settle()
        #expect(bench.clock.now == start && loaded.hubs.count == 2)
        await loaded.stop()
    }
}
