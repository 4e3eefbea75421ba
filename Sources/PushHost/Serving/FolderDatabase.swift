import PushCore
import Storage

/// The database of a data folder: examined before it is opened, so that no new one takes the place of one that was lost.
struct FolderDatabase: Sendable {
    private let folder: DataFolder
    /// What the folder records about it.
    private let record: FolderMark.Record
    private let finding: DatabaseFinding
    private let hasLostLog: Bool

    /// Whether there is none, and nothing says that there was one.
    var isNew: Bool { finding == .absent }

    /// Changes nothing. Throws `storage.damaged`, `storage.foreign_file`, `storage.unavailable` and `data.unusable`.
    static func examining(_ folder: DataFolder) async throws(PushError) -> FolderDatabase {
        let record = try FolderMark(folder: folder.path).read()
        return FolderDatabase(
            folder: folder, record: record, finding: try await SQLiteStorage.examine(folder.database, record.database),
            hasLostLog: SQLiteStorage.hasLostLog(folder.database))
    }

    /// For a server that starts, before it makes anything else in the folder: a new folder gets a mark that it is not used yet. So a
    /// start that is cut off before it has made the database can be repeated.
    ///
    /// Throws what `examining` throws.
    static func preparing(_ folder: DataFolder) async throws(PushError) -> FolderDatabase {
        let database = try await examining(folder)
        guard database.isNew, database.record.database.identity == nil else { return database }
        let record = FolderMark.Record(database: DatabaseMark(identity: DatabaseIdentity(random: SystemRandom().next())))
        try FolderMark(folder: folder.path).write(record)
        return FolderDatabase(folder: folder, record: record, finding: database.finding, hasLostLog: false)
    }

    /// Opens it, makes it where it is new, and marks the folder as used.
    ///
    /// - Parameters:
    ///   - keyFile: the key file that it is opened with, which the folder records.
    ///   - seal: of its key.
    ///   - warn: called with what an operator should know and what does not keep a server from starting.
    /// Throws what `SQLiteStorage.open` throws, and `data.unusable` for a new one.
    func open(_ keyFile: PayloadKeyFile, seal: SecretSeal, _ warn: (String) -> Void) async throws(PushError) -> SQLiteStorage {
        var record = self.record
        if let exchange, case .present(let identity) = finding {
            warn(exchange)
            // Before it is opened: after a kill its log would look like that of another database.
            record.database = DatabaseMark(identity: identity, isUsed: true)
            try? FolderMark(folder: folder.path).write(record)
        }
        let storage = try await SQLiteStorage.open(folder.database, seal: seal)
        if hasLostLog {
            warn(
                "the log of the database, \(folder.database)-wal, was deleted after the server before this one was killed: what was stored "
                    + "last may be lost; if something is missing, put a backup in its place with pushhost hub restore FILE")
        }
        do throws(PushError) {
            try await Self.mark(folder, record, finding, storage, keyFile)
        } catch {
            guard !isNew else {
                try? await storage.close()
                throw error
            }
            // On a full disk a server starts all the same.
            warn(
                "\(FolderMark.name) of the data folder \(folder.path) could not be written, the next start tries again: \(error.message)")
        }
        return storage
    }

    /// That another database was put in the place of the folder's own.
    private var exchange: String? {
        guard case .present(let identity) = finding, record.database.isUsed, let own = record.database.identity, identity != own
        else { return nil }
        return "the database \(folder.database) is not the one that the folder had before, and is used from now on; if it was not put "
            + "there on purpose, stop the server and put a backup in its place with pushhost hub restore FILE"
    }

    private static func mark(
        _ folder: DataFolder, _ record: FolderMark.Record, _ finding: DatabaseFinding, _ storage: SQLiteStorage,
        _ keyFile: PayloadKeyFile
    ) async throws(PushError) {
        let place = keyFile.placeOutside
        if case .present(let identity?) = finding, record.database == DatabaseMark(identity: identity, isUsed: true),
            record.keyFile == place
        {
            return
        }
        let identity = try await storage.identify(as: record.database.identity ?? DatabaseIdentity(random: SystemRandom().next()))
        try FolderMark(folder: folder.path).write(
            FolderMark.Record(database: DatabaseMark(identity: identity, isUsed: true), keyFile: place))
    }

    /// What took the place of a database.
    struct Replacement: Sendable {
        let storage: SQLiteStorage
        /// What was wrong with the one before.
        let flaw: PushError?
        /// Secrets of the backup that got new values.
        let renewed: RenewedSecrets
    }

    /// Puts a backup in the place of the database, whatever state that is in, and opens it.
    ///
    /// - Parameters:
    ///   - keyFile: the key file that it is opened with, which the folder records.
    ///   - seal: of its key.
    ///   - whenChecked: called when the backup is known to be good, and before anything changes.
    /// Throws what `SQLiteStorage.replace` throws; then nothing has changed.
    static func replace(
        in folder: DataFolder, from path: String, _ keyFile: PayloadKeyFile, seal: SecretSeal, _ secrets: LostSecrets,
        whenChecked: () async throws(PushError) -> Void
    ) async throws(PushError) -> Replacement {
        let record = try FolderMark(folder: folder.path).read()
        let (flaw, renewed) = try await SQLiteStorage.replace(
            folder.database, from: path, mark: record.database, seal: seal, secrets, whenChecked: whenChecked)
        let storage = try await SQLiteStorage.open(folder.database, seal: seal)
        // Where the disk is full now, the next start marks the folder.
        try? await Self.mark(folder, record, .present(nil), storage, keyFile)
        return Replacement(storage: storage, flaw: flaw, renewed: renewed)
    }
}
