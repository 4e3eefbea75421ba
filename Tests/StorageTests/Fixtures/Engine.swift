import PushModel
import Storage
import Support

/// The storage engines, which have the same contract.
enum Engine: String, CaseIterable {
    case memory, sqlite, postgresql

    /// Runs `work` with an empty engine.
    func run(_ work: (any StorageEngine) async throws -> Void) async throws {
        switch self {
        case .memory: try await work(MemoryStorage())
        case .sqlite:
            let folder = try Folder()
            let storage = try await SQLiteStorage.open(folder.file("hub.db"))
            try await work(storage)
            try await storage.close()
            withExtendedLifetime(folder) {}
        case .postgresql:
            try await PostgreSQLServer.running().withSchema { address in
                let storage = try await PostgreSQLStorage.open(address, seal: .test)
                try await work(storage)
                await storage.close()
            }
        }
    }

    /// Runs `work` with the store of one hub in an empty engine.
    func runHub(_ work: (any HubStore) async throws -> Void) async throws {
        try await run { try await work($0.namespace.store(ofHub: 1)) }
    }
}
