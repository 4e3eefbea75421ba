import Dispatch
import GRDB
import PushCore
import Synchronization

/// A database that is open: one writer with group commit, some readers.
///
/// Nothing here blocks a thread of Swift's concurrency: the work is done on GRDB's queues and on Dispatch's.
final class SQLiteDatabase: Sendable {
    let path: String
    let pool: DatabasePool
    let templates = TemplateKeys()
    /// Of the secrets in it.
    let seal: SecretSeal
    /// Why pages or the log may still hold secrets that an older version stored in clear; nil where they do not.
    let residue: PushError?
    private let queue: ChangeQueue
    private let restorations = Atomic(0)
    private let foundDamage = Mutex<PushError?>(nil)

    /// Blocks. Makes the file where there is none, and brings the tables of an older version up to date.
    ///
    /// Throws `storage.foreign_file` (400), `storage.newer_schema` (500), `storage.sealed` (409), `storage.corrupt` (500) and
    /// `storage.unavailable` (503).
    init(opening path: String, seal: SecretSeal) throws(PushError) {
        try SQLiteFile.prepare(path)
        try SQLiteFile.check(path)
        try SealingState.check(path, opensWith: seal)
        do {
            pool = try DatabasePool(path: path, configuration: Self.configuration)
            try pool.writeWithoutTransaction { try Self.setUp($0) }
            try SQLiteSchema.migrator(sealingWith: seal).migrate(pool)
        } catch {
            throw PushError(error, database: path)
        }
        residue = Self.eraseResidue(pool, path)
        (self.path, self.seal) = (path, seal)
        queue = ChangeQueue(pool: pool) { [templates] in templates.forget() }
    }

    /// How often a backup has taken the place of everything.
    var generation: Int { restorations.load(ordering: .acquiring) }

    /// `storage.corrupt`, once a damaged page was met.
    var damage: PushError? { foundDamage.withLock { $0 } }

    /// Checks the structure of all pages beside what else is done, on a connection of its own. Ends early if its task is cancelled.
    ///
    /// Throws `storage.corrupt` for damage, which is also recorded, and `storage.unavailable`.
    func checkPages() async throws(PushError) {
        let (check, generation) = (PageCheck(path: path), generation)
        let result = await withTaskCancellationHandler {
            await Self.blocking { try check.run() }
        } onCancel: {
            check.cancel()
        }
        // What it found may be what a backup has taken the place of.
        guard generation == self.generation, let flaw = try unwrap(result) else { return }
        let error = StorageError.corruptPages(path, flaw)
        record(error)
        throw error
    }

    private func record(_ error: PushError) { foundDamage.withLock { $0 = $0 ?? error } }

    /// Puts what another file holds in the place of everything; nobody reads or writes meanwhile.
    func replace(from path: String) async throws(PushError) {
        try await alone { [self] database in
            let source = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
            // Where it fails half-way SQLite takes it back; whoever waits is better refused once too often.
            restorations.add(1, ordering: .acquiringAndReleasing)
            try source.read { try $0.backup(to: database) }
            templates.forget()
            foundDamage.withLock { $0 = nil }
            // Pages of a database that was not clean are not to stay in the log.
            if residue != nil { try? SealingState.emptyLog(of: database) }
        }
    }

    /// What cannot be erased now, for example on a full disk, is tried again at the next start.
    private static func eraseResidue(_ pool: DatabasePool, _ path: String) -> PushError? {
        do {
            try SealingState.eraseResidue(pool)
            return nil
        } catch {
            return PushError(error, database: path)
        }
    }

    private static var configuration: Configuration {
        var configuration = SQLiteFile.configuration(readonly: false)
        configuration.label = "Storage"
        configuration.maximumReaderCount = 4
        return configuration
    }

    private static func setUp(_ database: Database) throws {
        // Only into a new file: on a full disk nothing could be written, and there is no need to.
        if try database.first("PRAGMA application_id", read: { $0.integer(0) }) != SQLiteSchema.applicationID {
            try database.execute(sql: "PRAGMA application_id = \(SQLiteSchema.applicationID)")
        }
        try database.execute(sql: "PRAGMA cache_size = -32768")
        // Every 16 MB; more often, the same pages would be copied again and again.
        try database.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
        try database.execute(sql: "PRAGMA journal_size_limit = 67108864")
        // GRDB sets NORMAL, with which a loss of power may take back what was committed last.
        try database.execute(sql: "PRAGMA synchronous = FULL")
        let level = try database.first("PRAGMA synchronous") { $0.integer(0) }
        guard level == 2 else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "it does not write through to the disk")
        }
    }

    /// Makes a change; answers when it is on the disk.
    ///
    /// - Parameter size: about how much is written, in bytes; a large change lets others go first.
    func write<Value: Sendable>(
        size: Int = 0, _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws(PushError) -> Value {
        try unwrap(await queue.perform(size: size, change))
    }

    /// Reads what is committed, all of it at one moment.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(PushError) -> Value {
        try unwrap(
            await withCheckedContinuation { continuation in
                pool.asyncRead { access in
                    continuation.resume(returning: Result { try body(try access.get()) })
                }
            })
    }

    /// Has the database for itself: no reader, no other change.
    func alone<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(PushError) -> Value {
        try unwrap(
            await withCheckedContinuation { continuation in
                pool.asyncBarrierWriteWithoutTransaction { access in
                    continuation.resume(returning: Result { try body(try access.get()) })
                }
            })
    }

    func close() async throws(PushError) {
        let last = await queue.perform(isLast: true) { _ in }
        guard case .success = last else { return }
        try await Self.blocking { [pool, path] in
            try pool.close()
            SQLiteFile.takeLogBack(path)
        }.mapError { PushError($0, database: path) }.get()
    }

    /// Does work that blocks where it may.
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
