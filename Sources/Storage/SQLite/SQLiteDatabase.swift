import Dispatch
import GRDB
import PushModel
import Synchronization

/// An open database: one writer with group commit, and several readers.
///
/// Never blocks a thread of Swift concurrency: reads and changes are executed by threads of the database, rare work on Dispatch's queues.
final class SQLiteDatabase: Sendable {
    let path: String
    let pool: DatabasePool
    let templates = TemplateKeys()
    /// Seals and opens the secrets in the database.
    let seal: SecretSeal
    /// Why pages or the log may still contain secrets that an older version stored in clear; nil if they do not.
    let residue: PushError?
    let queue: ChangeQueue
    private let readers = DatabaseThreads(count: readerCount)
    private let log: OpenLog
    private let restorations = Atomic(0)
    private let foundDamage = Mutex<PushError?>(nil)

    /// Opens a database, or creates it, and migrates the tables of an older version. Blocks the thread.
    ///
    /// If it throws, a database that needs no migration and its log are unchanged.
    ///
    /// Throws `storage.foreign_file` (400), `storage.newer_schema` (500), `storage.sealed` (409), `storage.corrupt` (500) and
    /// `storage.unavailable` (503).
    init(opening path: String, seal: SecretSeal) throws(PushError) {
        try SQLiteFile.prepare(path)
        try SQLiteFile.check(path)
        try SealingState.check(path, opensWith: seal)
        do {
            pool = try SQLiteFile.keepingLog(of: path) { try Self.pool(path, seal) }
        } catch {
            throw PushError(error, database: path)
        }
        residue = Self.eraseResidue(pool, path)
        (self.path, self.seal, log) = (path, seal, OpenLog(of: path))
        queue = ChangeQueue(pool: pool) { [templates] in templates.forget() }
    }

    private static func pool(_ path: String, _ seal: SecretSeal) throws -> DatabasePool {
        SQLiteFile.prepareLog(of: path)
        let pool = try DatabasePool(path: path, configuration: configuration)
        do {
            try pool.writeWithoutTransaction { try setUp($0) }
            try SQLiteSchema.migrator(sealingWith: seal).migrate(pool)
            return pool
        } catch {
            try? pool.close()
            throw error
        }
    }

    /// Number of backups restored since the database was opened.
    var generation: Int { restorations.load(ordering: .acquiring) }

    /// `storage.corrupt` once a damaged page was found, `storage.damaged` once the log was found truncated.
    var damage: PushError? { foundDamage.withLock { $0 } }

    /// Checks the structure of all pages during normal use, on a separate connection. Ends early if its task is cancelled.
    ///
    /// Throws `storage.corrupt` for damage, which is also recorded, and `storage.unavailable`.
    func checkPages() async throws(PushError) {
        let (check, generation) = (PageCheck(path: path), generation)
        let result = await withTaskCancellationHandler {
            await Self.blocking { try check.run() }
        } onCancel: {
            check.cancel()
        }
        // The flaw may be in a database that a restore has replaced in the meantime.
        guard generation == self.generation, let flaw = try unwrap(result) else { return }
        let error = StorageError.corruptPages(path, flaw)
        record(error)
        throw error
    }

    /// Checks that the log has what was written to it. Throws `storage.damaged` if it does not, which is also recorded.
    ///
    /// - Parameter connection: the writing one.
    func checkLog(_ connection: Database) throws(PushError) {
        guard let loss = log.loss(in: connection) else { return }
        record(loss)
        throw loss
    }

    /// Throws `storage.unavailable` if the log or its index was removed or replaced.
    func checkLogNames() throws(PushError) { try log.checkNames() }

    private func record(_ error: PushError) { foundDamage.withLock { $0 = $0 ?? error } }

    /// Replaces the whole content with that of another file, with exclusive access.
    func replace(from path: String) async throws(PushError) {
        try await alone { [self] database in
            let source = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
            // Count first: if copying fails, SQLite rolls back and earlier stores are rejected needlessly. The reverse would be unsafe.
            restorations.add(1, ordering: .acquiringAndReleasing)
            try source.read { try $0.backup(to: database) }
            templates.forget()
            foundDamage.withLock { $0 = nil }
            // Do not leave pages of a database with clear secrets in the log.
            if residue != nil { try? SealingState.emptyLog(of: database) }
        }
    }

    /// Errors, such as a full disk, are returned, and erasing is retried at the next start.
    private static func eraseResidue(_ pool: DatabasePool, _ path: String) -> PushError? {
        do {
            try SealingState.eraseResidue(pool)
            return nil
        } catch {
            return PushError(error, database: path)
        }
    }

    private static let readerCount = 4

    private static var configuration: Configuration {
        var configuration = SQLiteFile.configuration(readonly: false)
        configuration.label = "Storage"
        configuration.maximumReaderCount = readerCount
        return configuration
    }

    private static func setUp(_ database: Database) throws {
        // Only for a new file: with a full disk, an unnecessary write would fail.
        if try database.first("PRAGMA application_id", read: { $0.integer(0) }) != SQLiteSchema.applicationID {
            try database.execute(sql: "PRAGMA application_id = \(SQLiteSchema.applicationID)")
        }
        try database.execute(sql: "PRAGMA cache_size = -32768")
        // Every 16 MB. More frequent checkpoints would copy the same pages repeatedly.
        try database.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
        try database.execute(sql: "PRAGMA journal_size_limit = 67108864")
        // GRDB sets NORMAL, with which a power failure may lose the last commits.
        try database.execute(sql: "PRAGMA synchronous = FULL")
        let level = try database.first("PRAGMA synchronous") { $0.integer(0) }
        guard level == 2 else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "it does not write through to the disk")
        }
    }

    /// Makes a change and returns once it is on disk.
    ///
    /// - Parameter size: approximate number of bytes written; large changes yield to others.
    func write<Value: Sendable>(
        size: Int = 0, _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws(PushError) -> Value {
        try unwrap(await queue.perform(size: size, change))
    }

    /// Reads one consistent snapshot of committed data.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(PushError) -> Value {
        let account = ChargedWork.account
        return try unwrap(
            await withCheckedContinuation { continuation in
                readers.perform { [pool] in
                    continuation.resume(returning: Result { try pool.read { database in try account.measure { try body(database) } } })
                }
            })
    }

    /// Runs with exclusive access: no concurrent readers or changes.
    func alone<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(PushError) -> Value {
        try unwrap(
            await withCheckedContinuation { continuation in
                pool.asyncBarrierWriteWithoutTransaction { access in
                    continuation.resume(returning: Result { try body(try access.get()) })
                }
            })
    }

    /// - Parameter keepsLog: leaves a log with changes as it is, instead of moving it into the database.
    func close(keepingLog keepsLog: Bool) async throws(PushError) {
        let last = await queue.perform(isLast: true) { [log] in log.loss(in: $0) }
        guard case .success(let loss) = last else { return }
        let hasItsNames = (try? log.checkNames()) != nil
        // If the log was removed or replaced, the writer still has the right one.
        var isMoved = false
        if loss == nil, !hasItsNames { isMoved = (try? await alone { try $0.checkpoint(.truncate) }) != nil }
        if loss != nil || !hasItsNames && !isMoved {
            // Closing the last connection would copy zeros or frames of another log into the database, and remove the log. The connections
            // stay open until the process ends, which leaves the files as they are.
            _ = Unmanaged.passRetained(pool)
            return
        }
        try await Self.blocking { [pool, path, log, isMoved] in
            if isMoved {
                try pool.close()
                return log.removeReplacement()
            }
            if keepsLog, SQLiteFile.hasLog(path) { return try SQLiteFile.keepingLog(of: path) { try pool.close() } }
            try pool.close()
            SQLiteFile.checkpointRemainingLog(path)
        }.mapError { PushError($0, database: path) }.get()
    }

    /// Runs blocking work on a Dispatch queue.
    static func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async -> Result<Value, any Error> {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: Result { try work() }) }
        }
    }

    private func unwrap<Value>(_ result: Result<Value, any Error>) throws(PushError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let error):
            let failure = PushError(error, database: path)
            if let code = (error as? DatabaseError)?.resultCode, [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(code) { record(failure) }
            throw failure
        }
    }
}
