package import PushModel
import Synchronization

/// The hubs of a server in memory.
package final class MemoryNamespaceStore: NamespaceStore {
    private struct State {
        var rules: [AuthorizationRule] = []
        var hubs: [Int64: HubRecord] = [:]
        var lastNumber: Int64 = 0
        var stores: [Int64: MemoryHubStore] = [:]
    }

    private let state = Mutex(State())
    /// Stores the events of all hubs.
    private let runs: MemoryRunStore

    package init(runs: MemoryRunStore = MemoryRunStore()) { self.runs = runs }

    package func load() -> StoredNamespace {
        state.withLock { state in
            StoredNamespace(
                rules: state.rules, hubs: state.hubs.values.sorted { $0.number < $1.number }, lastNumber: state.lastNumber)
        }
    }

    package func putRules(_ rules: [AuthorizationRule]) {
        state.withLock { $0.rules = rules }
    }

    package func putHub(_ hub: HubRecord) throws(PushError) {
        let name = hub.name.lowercased()
        try state.withLock { state throws(PushError) in
            guard !state.hubs.values.contains(where: { $0.number != hub.number && $0.name.lowercased() == name }) else {
                throw StorageError.conflict("a hub named \(hub.name) already exists")
            }
            state.hubs[hub.number] = hub
            state.lastNumber = max(state.lastNumber, hub.number)
        }
    }

    package func removeHub(_ number: Int64) async {
        let store = state.withLock { state in
            state.hubs[number] = nil
            return state.stores[number]
        }
        await store?.removeAll()
    }

    package func store(ofHub number: Int64) -> any HubStore {
        state.withLock { state in
            if let store = state.stores[number] { return store }
            let store = MemoryHubStore(runs: runs)
            state.stores[number] = store
            return store
        }
    }
}
