import PushCore
import Storage
import Support

/// The engines that keep the same promises.
enum Engine: String, CaseIterable {
    case memory, sqlite

    /// Does `work` with an engine that has nothing in it yet.
    func run(_ work: (any StorageEngine) async throws -> Void) async throws {
        switch self {
        case .memory: try await work(MemoryStorage())
        case .sqlite:
            let folder = try Folder()
            let storage = try await SQLiteStorage.open(folder.file("hub.db"))
            try await work(storage)
            try await storage.close()
            withExtendedLifetime(folder) {}
        }
    }

    /// The same with the store of one hub.
    func runHub(_ work: (any HubStore) async throws -> Void) async throws {
        try await run { try await work($0.namespace.store(ofHub: 1)) }
    }
}
