import Dispatch
import PushModel
import Support

@testable import Storage

/// A PostgreSQL engine in its own schema.
struct PostgreSQLBench: Sendable {
    let address: PostgreSQLAddress
    let storage: PostgreSQLStorage

    /// Runs `work` with an empty engine.
    static func run(_ limits: PostgreSQLLimits = PostgreSQLLimits(), _ work: (PostgreSQLBench) async throws -> Void) async throws {
        try await PostgreSQLServer.running().withSchema { address in
            let bench = PostgreSQLBench(address: address, storage: try await PostgreSQLStorage.open(address, seal: .test, limits))
            try await work(bench)
            await bench.storage.close()
        }
    }

    /// Runs `work` with two engines on one database.
    static func runTwo(_ work: (PostgreSQLBench, PostgreSQLBench) async throws -> Void) async throws {
        try await run { first in
            let second = PostgreSQLBench(address: first.address, storage: try await PostgreSQLStorage.open(first.address, seal: .test))
            try await work(first, second)
            await second.storage.close()
        }
    }

    var store: any HubStore { storage.namespace.store(ofHub: 1) }

    /// Runs statements on a connection of their own.
    func execute(_ statements: String...) async throws {
        try await blocking { [address] in
            let connection = try PostgreSQLConnection(to: address, PostgreSQLLimits())
            for statement in statements { try connection.run(statement) }
        }
    }

    /// The first column of the first row; nil if there is none.
    func integer(_ sql: String) async throws -> Int64? {
        try await blocking { [address] in
            try PostgreSQLConnection(to: address, PostgreSQLLimits()).first(sql) { $0.integer(0) }
        }
    }

    func sequences() async throws -> [Int64] { try await store.unfinished(after: 0, limit: 9999).map(\.sequence) }
}

/// Runs blocking work on a thread that may be blocked.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
    }
}
