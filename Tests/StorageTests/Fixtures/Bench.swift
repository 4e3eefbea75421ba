import GRDB
import PushModel
import Support

@testable import Storage

/// A SQLite engine in its own folder.
final class Bench: Sendable {
    let folder: Folder
    let storage: SQLiteStorage

    init() async throws {
        folder = try Folder()
        storage = try await SQLiteStorage.open(folder.file("hub.db"))
    }

    var store: any HubStore { storage.namespace.store(ofHub: 1) }

    /// Runs SQL on the writing connection.
    func execute(_ sql: String) async throws {
        try await storage.database.pool.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    func integer(_ sql: String) async throws -> Int? {
        try await storage.database.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: sql) }
    }

    /// Throws the reason for the first unreadable row.
    func loadAll() async throws {
        if let row = try await store.load().unreadable.first { throw PushError("storage.corrupt", row.reason) }
    }

    func sequences() async throws -> [Int64] { try await store.unfinished(after: 0, limit: 9999).map(\.sequence) }
}

typealias Work = @Sendable () async throws -> Void

/// The errors of the tasks, nil for success, in the order of the work.
func outcomes(_ work: [Work]) async -> [PushError?] {
    await withTaskGroup(of: (Int, PushError?).self) { group in
        for (number, work) in work.enumerated() { group.addTask { (number, await refusal { try await work() }) } }
        return await group.reduce(into: [PushError?](repeating: nil, count: work.count)) { $0[$1.0] = $1.1 }
    }
}
