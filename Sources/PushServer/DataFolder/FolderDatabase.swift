package import PushModel
import PushRuntime
package import Storage

/// The database of a data folder. It is examined before it is opened, so that a lost database is not silently replaced by a new one.
package struct FolderDatabase: Sendable {
    private let folder: DataFolder
    /// The folder's record of the database.
    private let record: DataFolderMarker.Record
    private let examination: DatabaseExamination
    /// The finding that a folder without a record of a database has a key; nil if it has none.
    private var loneKey: String?

    private var finding: DatabaseFinding { examination.finding }

    private var openMark: OpenMark { OpenMark(folder: folder.path) }

    /// Whether the folder has no database and no record of one.
    package var isNew: Bool { finding == .absent }

    /// Examines the database without changing anything. Throws `storage.damaged`, `storage.foreign_file`, `storage.unavailable` and
    /// `data.unusable`.
    package static func examining(_ folder: DataFolder) async throws(PushError) -> FolderDatabase {
        let record = try DataFolderMarker(folder: folder.path).read()
        return FolderDatabase(
            folder: folder, record: record, examination: try await DatabaseExamination(of: folder.database, record.database))
    }

    /// Examines the database at server start. A new folder is marked as not used yet, so that a start that was interrupted before the
    /// database was created can be repeated.
    ///
    /// Throws the errors of `examining`.
    static func preparing(_ folder: DataFolder) async throws(PushError) -> FolderDatabase {
        let database = try await examining(folder)
        guard database.isNew, database.record.database.identity == nil else { return database }
        // From here on an interrupted start leaves a key and no database, but a record with an identity.
        let loneKey = PayloadKeyFile(folder: folder.path).finding(database.finding, database.record.database)
        let record = DataFolderMarker.Record(database: DatabaseMark(identity: DatabaseIdentity(random: SystemRandom().next())))
        try DataFolderMarker(folder: folder.path).write(record)
        return FolderDatabase(folder: folder, record: record, examination: database.examination, loneKey: loneKey)
    }

    /// Records that the log may be moved into the database, before a command does that.
    package func allowMovingLog() { openMark.remove() }

    /// Opens or creates the database and marks the folder as used. `DatabaseSession.serve` marks it as open.
    ///
    /// - Parameters:
    ///   - keyFile: the key file, whose path the folder records.
    ///   - seal: the seal made from its key.
    ///   - warn: called with problems that do not prevent the start.
    /// - Throws: the errors of `SQLiteStorage.open`, and `data.unusable` if a new folder cannot be marked.
    package func open(_ keyFile: PayloadKeyFile, seal: SecretSeal, _ warn: (String) -> Void) async throws(PushError) -> DatabaseSession {
        var record = self.record
        let hadLog = SQLiteStorage.hasLog(folder.database)
        // The database was replaced after a kill, for example by a backup.
        if !hadLog { openMark.remove() }
        if record.isDamaged {
            warn("\(DataFolderMarker.damage(of: folder.path)); it is written again from the settings and the database")
        }
        if let exchange, case .present(let identity) = finding {
            warn(exchange)
            // Record it before opening: if the process is killed, its log would otherwise look like that of another database.
            record.database = DatabaseMark(identity: identity, isUsed: true)
            try? DataFolderMarker(folder: folder.path).write(record)
        }
        let storage = try await SQLiteStorage.open(folder.database, seal: seal)
        if let loneKey, keyFile.outsidePath == nil {
            warn("\(loneKey); a new database was created, and uses this key; \(PayloadKeyFile.lostDatabase)")
        }
        if let loss = examination.suspectedLoss { warn("\(loss); \(DatabaseExamination.remedy)") }
        do throws(PushError) {
            try await Self.mark(folder, record, finding, storage, keyFile)
        } catch {
            guard !isNew else {
                try? await storage.close()
                throw error
            }
            // An existing database can be used even if the mark cannot be written, for example on a full disk.
            warn(
                "\(DataFolderMarker.name) of the data folder \(folder.path) could not be written; the next start tries again: \(error.message)"
            )
        }
        return DatabaseSession(storage, openMark, hadLog: hadLog)
    }

    /// The warning that the database was replaced by another one; nil if it was not.
    private var exchange: String? {
        guard case .present(let identity) = finding, record.database.isUsed, let own = record.database.identity, identity != own
        else { return nil }
        return "the database \(folder.database) was replaced by another one, which is used from now on; if this was not "
            + "intended, stop the server and restore a backup with pushhost hub restore FILE"
    }

    private static func mark(
        _ folder: DataFolder, _ record: DataFolderMarker.Record, _ finding: DatabaseFinding, _ storage: SQLiteStorage,
        _ keyFile: PayloadKeyFile
    ) async throws(PushError) {
        let path = keyFile.outsidePath
        if case .present(let identity?) = finding, record.database.identity == identity, record.database.isUsed,
            record.keyFile == path
        {
            return
        }
        // Moves the log into the database.
        OpenMark(folder: folder.path).remove()
        let identity = try await storage.identify(as: record.database.identity ?? DatabaseIdentity(random: SystemRandom().next()))
        try DataFolderMarker(folder: folder.path).write(
            DataFolderMarker.Record(database: DatabaseMark(identity: identity, isUsed: true), keyFile: path))
    }

    /// The result of restoring a backup.
    package struct Replacement: Sendable {
        package let session: DatabaseSession
        package var storage: SQLiteStorage { session.storage }
        /// The fault of the previous database, if it had one.
        package let flaw: PushError?
        /// The secrets of the backup that were replaced by new values.
        package let renewed: RenewedSecrets
    }

    /// Replaces the database, whatever its state, by a backup and opens it.
    ///
    /// - Parameters:
    ///   - keyFile: the key file, whose path the folder records.
    ///   - seal: the seal made from its key.
    ///   - whenChecked: called after the backup was checked and before anything changes.
    /// - Throws: the errors of `SQLiteStorage.replace`; in that case nothing has changed.
    package static func replace(
        in folder: DataFolder, from path: String, _ keyFile: PayloadKeyFile, seal: SecretSeal, _ secrets: LostSecrets,
        whenChecked: () async throws(PushError) -> Void
    ) async throws(PushError) -> Replacement {
        let record = try DataFolderMarker(folder: folder.path).read()
        let mark = OpenMark(folder: folder.path)
        let isDamaged = (try? await SQLiteStorage.examine(folder.database, record.database)) == nil
        let (flaw, renewed): (PushError?, RenewedSecrets)
        do throws(PushError) {
            (flaw, renewed) = try await SQLiteStorage.replace(
                folder.database, from: path, mark: record.database, seal: seal, secrets
            ) { () throws(PushError) in
                try await whenChecked()
                // The log is moved into the old database, and is not that of the new one.
                mark.remove()
            }
        } catch {
            // The old database is still there, and it may still lack its log.
            if isDamaged, record.database.unclosed != nil, !mark.exists { try? mark.write() }
            throw error
        }
        let storage = try await SQLiteStorage.open(folder.database, seal: seal)
        // If this fails, for example on a full disk, the next start marks the folder.
        try? await Self.mark(folder, record, .present(nil), storage, keyFile)
        return Replacement(session: DatabaseSession(storage, mark, hadLog: false), flaw: flaw, renewed: renewed)
    }
}
