import PushModel
import Storage
import Support

@testable import Storage

extension Engine {
    /// Runs `work` with empty spaces of this quota.
    func runSpaces(_ quota: KeyValueQuota = .standard, _ work: (any KeyValueSpaces) async throws -> Void) async throws {
        switch self {
        case .memory: try await work(MemoryKeyValueSpaces(quota: quota))
        case .sqlite:
            let bench = try await Bench()
            try await work(SQLiteKeyValueSpaces(database: bench.storage.database, quota: quota))
            try await bench.storage.close()
        case .postgresql:
            try await PostgreSQLServer.running().withSchema { address in
                let storage = try await PostgreSQLStorage.open(address, seal: .test)
                try await work(PostgreSQLKeyValueSpaces(database: storage.database, quota: quota))
                await storage.close()
            }
        }
    }

    /// Runs `work` with one empty space.
    func runSpace(_ quota: KeyValueQuota = .standard, _ work: (any KeyValueStore) async throws -> Void) async throws {
        try await runSpaces(quota) { try await work($0.space("plugin")) }
    }
}

extension KeyValueStore {
    /// Stores a value unconditionally, without expiry unless one is given.
    @discardableResult
    func put(_ value: JSON, for key: String, expires: Timestamp? = nil, now: Timestamp = HubBench.startTime) async throws -> Int64? {
        let put = try await put(value, for: key, expires: expires, if: .always, now: now)
        if case .stored(let version) = put { return version }
        return nil
    }

    func value(_ key: String) async throws -> JSON? { try await value(key, now: HubBench.startTime)?.value }

    /// Requests one of two slots per hour.
    func take(_ keys: [String], _ token: String, of limit: Int = 2, after duration: Duration = .zero) async throws -> [Bool] {
        try await take(keys, token: token, limit: limit, within: .seconds(3600), now: HubBench.startTime + duration)
    }
}
