import GRDB
import Glibc
package import PushModel

/// Stores everything in one SQLite file. A change that was confirmed is on disk and survives a crash.
package struct SQLiteStorage: StorageEngine {
    package let accounts: any AccountStore & SessionStore
    package let securePayloads: any SecurePayloadStore
    package let providerTokens: any ProviderTokenStore
    package let keyValues: any KeyValueSpaces
    package let auditTrail: any AuditTrail
    package let approvals: any ApprovalStore
    let database: SQLiteDatabase

    package var namespace: any NamespaceStore { SQLiteNamespaceStore(database: SQLiteAccess(database)) }
    package var runs: any AutomationStore { SQLiteRunStore(database: SQLiteAccess(database)) }

    /// Why the file may still contain secrets that an older version stored in clear; nil if it does not.
    package var residue: PushError? { database.residue }

    /// Opens a database file, or creates one that only its owner can read. Seals secrets that an older version stored in clear.
    ///
    /// Throws `storage.foreign_file` (400), `storage.newer_schema` (500), `storage.sealed` (409), `storage.corrupt` (500) and
    /// `storage.unavailable` (503).
    package static func open(_ path: String, seal: SecretSeal) async throws(PushError) -> SQLiteStorage {
        let database = try await SQLiteDatabase.blocking { try SQLiteDatabase(opening: path, seal: seal) }
            .mapError { PushError($0, database: path) }.get()
        let namespace = SQLiteNamespaceStore(database: SQLiteAccess(database))
        // Cleanup may fail, for example on a full disk; it is retried at the next start.
        try? await namespace.finishRemovals()
        try? await namespace.removeUnusedTemplates()
        return SQLiteStorage(
            accounts: SQLiteAccountStore(database: database),
            securePayloads: SQLiteSecurePayloadStore(database: database),
            providerTokens: SQLiteProviderTokenStore(database: database), keyValues: SQLiteKeyValueSpaces(database: database),
            auditTrail: SQLiteAuditTrail(database: database), approvals: SQLiteApprovalStore(database: database), database: database)
    }

    /// Examines the files of a database that no process has open, without changing them. Call this before opening it: SQLite turns an empty
    /// file into a new database, and drops a log that it cannot use.
    ///
    /// - Parameter mark: what the folder records about its database.
    /// Throws `storage.damaged` (500), `storage.foreign_file` (400) and `storage.unavailable` (503).
    package static func examine(_ path: String, _ mark: DatabaseMark) async throws(PushError) -> DatabaseFinding {
        try await SQLiteDatabase.blocking { try DatabaseFiles(path: path).examine(mark) }
            .mapError { PushError($0, database: path) }.get()
    }

    /// What seems to be wrong with the log of a database that no process has open and that `examine` has accepted. Nil if nothing is.
    ///
    /// - Parameter mark: what the folder records about its database.
    package static func suspectedLoss(_ path: String, _ mark: DatabaseMark) async throws(PushError) -> String? {
        try await SQLiteDatabase.blocking { try DatabaseFiles(path: path).suspectedLoss(mark) }
            .mapError { PushError($0, database: path) }.get()
    }

    /// Examines the log of a database that another process has open and has marked as open, without changing anything.
    ///
    /// Throws `storage.damaged` if the log lacks changes, and `storage.unavailable` if it or its index was removed, or cannot be read.
    package static func examineOpenLog(of path: String) async throws(PushError) {
        try await SQLiteDatabase.blocking { try OpenLog.examine(path) }.mapError { PushError($0, database: path) }.get()
    }

    /// Whether a database that no process has open has a log with changes: it was not closed.
    package static func hasLog(_ path: String) -> Bool { SQLiteFile.hasLog(path) }

    /// Assigns an identity if the database has none, and checkpoints it into the file, where `examine` reads it.
    ///
    /// - Returns: the identity of the database.
    package func identify(as identity: DatabaseIdentity) async throws(PushError) -> DatabaseIdentity {
        try await database.alone { database in
            let stored = try SQLiteFile.identity(of: database)
            if stored == nil { try SQLiteFile.setIdentity(identity, of: database) }
            let isBusy = try database.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) } == 1
            if isBusy { throw DatabaseError(resultCode: .SQLITE_BUSY) }
            return stored ?? identity
        }
    }

    package var damage: PushError? { database.damage }

    package func checkPages() async throws(PushError) { try await database.checkPages() }

    /// Checks whether this version can open a database and whether its pages are intact. Other processes may use it meanwhile.
    ///
    /// - Parameter mark: the folder's record about it; nil while another process uses it, because its files change then.
    /// - Returns: false if there is no database and none is expected.
    /// Throws `storage.damaged`, `storage.foreign_file`, `storage.newer_schema`, `storage.corrupt` and `storage.unavailable`.
    @discardableResult
    package static func inspect(_ path: String, _ mark: DatabaseMark? = nil) async throws(PushError) -> Bool {
        if let mark, try await examine(path, mark) == .absent { return false }
        return try await SQLiteDatabase.blocking {
            try SQLiteFile.check(path)
            if let flaw = try SQLiteFile.read(path, { try SQLiteFile.flaw(in: $0) }) { throw StorageError.corruptPages(path, flaw) }
            return true
        }.mapError { PushError($0, database: path) }.get()
    }

    /// Summary of a database that need not be open.
    package struct Contents: Sendable {
        package let hubs: [String]
        /// Number of readable secure payloads, by key id.
        package let payloadsByKey: [[UInt8]: Int]
        /// Number of accounts whose password hash is weaker than the current cost.
        package let cheapAccounts: Int
        /// Nil for a database of a version that stored secrets in clear.
        package let sealing: SealingState?
    }

    /// Reads a database of this or an older version. Other processes may use it meanwhile.
    package static func contents(of path: String) async throws(PushError) -> Contents {
        try await SQLiteDatabase.blocking {
            try SQLiteFile.check(path)
            return try SQLiteFile.read(path) { database in
                Contents(
                    hubs: try database.all("SELECT name FROM hub ORDER BY number") { $0.text(0) },
                    payloadsByKey: try SQLiteSecurePayloadStore.readableByKey(in: database),
                    cheapAccounts: try SQLiteAccountStore.count(cheaperThan: .served, in: database),
                    sealing: try SealingState(in: database))
            }
        }.mapError { PushError($0, database: path) }.get()
    }

    package func checkWriting() async throws(PushError) {
        try await database.write { [database] connection in
            try database.checkLog(connection)
            try database.checkLogNames()
            // An update that changes nothing would not be written to disk.
            try connection.run("INSERT INTO leaving_hub VALUES (-1)")
            try connection.run("DELETE FROM leaving_hub WHERE number = -1")
        }
    }

    /// Copies the log to the database, and leaves it beside it. Transactions that other processes read may prevent that. Throws
    /// `storage.damaged` if another program has truncated the log; then nothing is copied.
    package func checkpoint() async throws(PushError) {
        try await database.alone { [database] connection in
            try database.checkLog(connection)
            _ = try connection.first("PRAGMA wal_checkpoint(PASSIVE)") { $0.integer(0) }
        }
    }

    package func close() async throws(PushError) { try await database.close(keepingLog: false) }

    /// Closes the database and leaves its log as it is, for a start that failed.
    package func closeKeepingLog() async throws(PushError) { try await database.close(keepingLog: true) }

    // MARK: - Backup

    /// Checks that a file is a database of this program with a complete log, without changing it.
    ///
    /// Throws `storage.not_found`, `storage.damaged`, `storage.foreign_file`, `storage.newer_schema` and `storage.unavailable`.
    package static func checkBackup(_ path: String) async throws(PushError) {
        try await SQLiteDatabase.blocking {
            guard SQLiteFile.exists(path) else { throw SQLiteFile.missing(path) }
            guard try DatabaseFiles(path: path).examine(DatabaseMark()) != .absent else { throw SQLiteFile.foreign(path, "it is empty") }
            try SQLiteFile.check(path)
        }.mapError { PushError($0, database: path) }.get()
    }

    package func backup(to path: String) async throws(PushError) {
        try await database.read { database in
            let taken = PushError(
                "storage.backup_exists", "there is a file \(path) already", hint: "name a file that does not exist", status: 409)
            guard !SQLiteFile.exists(path) else { throw taken }
            let partial = "\(path).partial"
            SQLiteFile.remove(partial)
            defer { SQLiteFile.remove(partial) }
            do {
                try Self.copy(database, to: partial)
            } catch {
                throw PushError(error, database: path)
            }
            // Unlike a rename, this does not overwrite a file created in the meantime.
            guard link(partial, path) == 0 else { throw errno == EEXIST ? taken : SQLiteFile.failure("created", path) }
        }
    }

    package func restore(
        from path: String, _ secrets: LostSecrets, whenChecked: @Sendable () async -> Void
    ) async throws(PushError) -> RenewedSecrets {
        let staged = "\(database.path).restoring"
        defer { SQLiteFile.remove(staged) }
        let renewed = try await Self.prepare(path, as: staged, database.seal, secrets, for: .restoringInServer)
        // The folder's mark contains the identity of this database, so the backup gets the same one.
        if let identity = try await database.read({ try SQLiteFile.identity(of: $0) }) { try await Self.identify(staged, as: identity) }
        await whenChecked()
        try await database.replace(from: staged)
        return renewed
    }

    /// Replaces a database that no process has open with a backup. The old one may be broken, of another program, or missing.
    ///
    /// - Parameters:
    ///   - mark: the folder's record about the database; the backup gets its identity.
    ///   - whenChecked: called after the backup was checked and before anything changes.
    /// - Returns: what was wrong with the old database (nil if nothing, or if there was none), and the renewed secrets.
    /// Throws what `restore` throws for the backup, and `storage.unavailable`; then nothing has changed.
    package static func replace(
        _ target: String, from path: String, mark: DatabaseMark = DatabaseMark(), seal: SecretSeal, _ secrets: LostSecrets = .refused,
        whenChecked: () async throws(PushError) -> Void = {}
    ) async throws(PushError) -> (flaw: PushError?, renewed: RenewedSecrets) {
        let staged = "\(target).restoring"
        defer { SQLiteFile.remove(staged) }
        let renewed = try await prepare(path, as: staged, seal, secrets, for: .restoring)
        if let identity = mark.identity { try await identify(staged, as: identity) }
        var found: PushError?
        do throws(PushError) {
            _ = try await examine(target, mark)
        } catch {
            found = error
        }
        try await whenChecked()
        let flaw = try await SQLiteDatabase.blocking { [found] in try SQLiteFile.exchange(target, for: staged, flaw: found) }
            .mapError { PushError($0, database: target) }.get()
        return (flaw, renewed)
    }

    /// Replaces secrets that cannot be opened, in a database that no process has open. Migrates a database of an older version and seals
    /// its secrets.
    ///
    /// Throws `storage.not_found`, and what `open` throws except `storage.sealed`.
    package static func renewSecrets(of path: String, seal: SecretSeal, now: Timestamp) async throws(PushError) -> RenewedSecrets {
        try await SQLiteDatabase.blocking {
            guard SQLiteFile.exists(path) else { throw SQLiteFile.missing(path) }
            try SQLiteFile.check(path)
            let queue = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: false))
            try SQLiteSchema.migrator(sealingWith: seal).migrate(queue)
            let renewed = try queue.write { try SecretRenewal(seal: seal, now: now, database: $0).run() }
            try? SealingState.eraseResidue(queue)
            try queue.close()
            return renewed
        }.mapError { PushError($0, database: path) }.get()
    }

    private static func identify(_ staged: String, as identity: DatabaseIdentity) async throws(PushError) {
        try await SQLiteDatabase.blocking { try SQLiteFile.setIdentity(identity, ofFile: staged) }
            .mapError { PushError($0, database: staged) }.get()
    }

    /// The key that seals the secrets of a database that no process has open; nil for a version that stored them in clear. Changes
    /// nothing.
    ///
    /// Throws `storage.damaged`, `storage.foreign_file`, `storage.newer_schema`, `storage.corrupt` and `storage.unavailable`.
    package static func sealing(of path: String) async throws(PushError) -> SealingState? {
        try await SQLiteDatabase.blocking {
            _ = try DatabaseFiles(path: path).examine(DatabaseMark())
            try SQLiteFile.check(path)
            return try SQLiteFile.read(path) { try SealingState(in: $0) }
        }.mapError { PushError($0, database: path) }.get()
    }

    /// Copies a database and its log to a single new file, after checking that it is valid.
    ///
    /// - Parameter seal: migrates the copy of an older version and seals its secrets. Nil copies without changes.
    /// Throws what `restore` throws.
    package static func copy(_ path: String, to copy: String, sealing seal: SecretSeal? = nil) async throws(PushError) {
        do throws(PushError) {
            try await SQLiteDatabase.blocking {
                try Self.duplicate(path, as: copy, sealing: seal)
                guard let seal else { return }
                let queue = try DatabaseQueue(path: copy, configuration: SQLiteFile.configuration(readonly: false))
                try SQLiteSchema.migrator(sealingWith: seal).migrate(queue)
                try SealingState.eraseResidue(queue)
                try queue.close()
            }.mapError { PushError($0, database: path) }.get()
        } catch {
            SQLiteFile.remove(copy)
            throw error
        }
    }

    /// Copies and checks a backup, ready to be restored.
    private static func prepare(
        _ path: String, as staged: String, _ seal: SecretSeal, _ secrets: LostSecrets, for use: SealedUse
    ) async throws(PushError) -> RenewedSecrets {
        let renewed = try await SQLiteDatabase.blocking { try Self.stage(path, as: staged, seal, secrets, for: use) }
            .mapError { PushError($0, database: path) }.get()
        do throws(PushError) {
            try await Self.checkRows(of: staged, seal)
            return renewed
        } catch {
            var error = error
            error.message = "the backup \(path) cannot be used: \(error.message.replacing(staged, with: path))"
            throw error
        }
    }

    /// Rejects a backup with unreadable hubs before it is restored. Unreadable devices and held removals are left out, as at any start, and
    /// reported by the hub that loads them.
    private static func checkRows(of staged: String, _ seal: SecretSeal) async throws(PushError) {
        let storage = try await open(staged, seal: seal)
        let namespace = storage.namespace
        do throws(PushError) {
            for hub in try await namespace.load().hubs { _ = try await namespace.store(ofHub: hub.number).load() }
        } catch {
            try? await storage.close()
            throw error
        }
        try await storage.close()
    }

    /// Makes a copy that is checked, migrated to this version, and sealed.
    private static func stage(
        _ path: String, as staged: String, _ seal: SecretSeal, _ secrets: LostSecrets, for use: SealedUse
    ) throws -> RenewedSecrets {
        try duplicate(path, as: staged, sealing: seal)
        let migrated = try DatabaseQueue(path: staged, configuration: SQLiteFile.configuration(readonly: false))
        if case .refused = secrets { try migrated.read { try SealingState.check($0, path, opensWith: seal, for: use) } }
        try SQLiteSchema.migrator(sealingWith: seal).migrate(migrated)
        let renewed = try migrated.write { database in
            try SQLiteRunStore.prepareForRestore(in: database)
            guard case .renewed(let now) = secrets else { return RenewedSecrets() }
            return try SecretRenewal(seal: seal, now: now, database: database).run()
        }
        try SealingState.eraseResidue(migrated)
        try migrated.close()
        return renewed
    }

    /// Checks a database and copies it. See `copy` for the seal.
    private static func duplicate(_ path: String, as staged: String, sealing seal: SecretSeal?) throws {
        guard SQLiteFile.exists(path) else { throw SQLiteFile.missing(path) }
        // A log next to it belongs to it and must be complete.
        _ = try DatabaseFiles(path: path).examine(DatabaseMark())
        try SQLiteFile.check(path)
        SQLiteFile.remove(staged)
        try SQLiteFile.read(path) { database in
            guard try database.first("PRAGMA application_id", read: { $0.integer(0) }) == SQLiteSchema.applicationID else {
                throw SQLiteFile.foreign(path, "it is empty")
            }
            if let flaw = try SQLiteFile.flaw(in: database) {
                throw StorageError.corrupt("the database \(path)", flaw, hint: "name another backup")
            }
            try copy(database, to: staged, sealing: seal)
        }
    }

    /// Copies a database to a new file, whose pages never contain clear secrets.
    ///
    /// - Parameter seal: seals secrets that an older version stored in clear, which also migrates the copy. Nil leaves them as they are.
    private static func copy(_ database: Database, to path: String, sealing seal: SecretSeal? = nil) throws {
        let state = try SealingState(in: database)
        guard state == nil ? seal != nil : state?.isClean == false else { return try write(database, to: path) }
        // A temporary database of SQLite. Its file has no name, so that a crash leaves nothing behind.
        let sealed = try DatabaseQueue(path: "", configuration: SQLiteFile.configuration(readonly: false))
        try sealed.writeWithoutTransaction { try database.backup(to: $0) }
        if state == nil, let seal { try SQLiteSchema.migrator(sealingWith: seal).migrate(sealed) }
        try SealingState.eraseResidue(sealed)
        try sealed.read { try write($0, to: path) }
        try sealed.close()
    }

    private static func write(_ database: Database, to path: String) throws {
        try SQLiteFile.prepare(path)
        let copy = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: false))
        try copy.writeWithoutTransaction { copy in
            try database.backup(to: copy)
            // A single file that is readable without others.
            try copy.execute(sql: "PRAGMA journal_mode = DELETE")
        }
        try copy.close()
    }
}
