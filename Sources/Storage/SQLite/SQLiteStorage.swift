import GRDB
import Glibc
import PushCore

/// Keeps everything in one SQLite file. What was answered is on the disk, and no crash loses it.
package struct SQLiteStorage: StorageEngine {
    package let accounts: any AccountStore
    package let securePayloads: any SecurePayloadStore
    package let providerTokens: any ProviderTokenStore
    package let keyValues: any KeyValueSpaces
    package let auditTrail: any AuditTrail
    package let approvals: any ApprovalStore
    let database: SQLiteDatabase

    package var namespace: any NamespaceStore { SQLiteNamespaceStore(database: SQLiteAccess(database)) }
    package var runs: any RunStore { SQLiteRunStore(database: SQLiteAccess(database)) }

    /// Why the file may still hold secrets that an older version stored in clear; nil where it does not.
    package var residue: PushError? { database.residue }

    /// Opens the database of a file, or makes one that only its owner can read. Secrets that an older version stored in clear are
    /// sealed.
    ///
    /// Throws `storage.foreign_file` (400), `storage.newer_schema` (500), `storage.sealed` (409), `storage.corrupt` (500) and
    /// `storage.unavailable` (503).
    package static func open(_ path: String, seal: SecretSeal) async throws(PushError) -> SQLiteStorage {
        let database = try await SQLiteDatabase.blocking { try SQLiteDatabase(opening: path, seal: seal) }
            .mapError { PushError($0, database: path) }.get()
        let namespace = SQLiteNamespaceStore(database: SQLiteAccess(database))
        // What nobody needs any more can wait for a start with room on the disk.
        try? await namespace.finishRemovals()
        try? await namespace.removeUnusedTemplates()
        return SQLiteStorage(
            accounts: SQLiteAccountStore(database: database),
            securePayloads: SQLiteSecurePayloadStore(database: database),
            providerTokens: SQLiteProviderTokenStore(database: database), keyValues: SQLiteKeyValueSpaces(database: database),
            auditTrail: SQLiteAuditTrail(database: database), approvals: SQLiteApprovalStore(database: database), database: database)
    }

    /// Examines the files of a database that no process has open, and changes nothing. To be called before it is opened: SQLite makes
    /// a new database of an empty file, and drops a log that it cannot use.
    ///
    /// - Parameter mark: what the folder records about its database.
    /// Throws `storage.damaged` (500), `storage.foreign_file` (400) and `storage.unavailable` (503).
    package static func examine(_ path: String, _ mark: DatabaseMark) async throws(PushError) -> DatabaseFinding {
        try await SQLiteDatabase.blocking { try DatabaseFiles(path: path).examine(mark) }
            .mapError { PushError($0, database: path) }.get()
    }

    /// Whether the log of a database that no process has open was deleted: SQLite removes the index of a log together with it.
    package static func hasLostLog(_ path: String) -> Bool {
        SQLiteFile.exists(path) && SQLiteFile.exists("\(path)-shm") && !SQLiteFile.exists("\(path)-wal")
    }

    /// Gives the database an identity if it has none, and brings it into the file itself, where `examine` finds it.
    ///
    /// - Returns: the identity that it has.
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

    /// Looks whether a database can be opened by this version, and whether its pages are whole; also while another process uses it.
    ///
    /// - Parameter mark: what its folder records about it; nil while another process uses it, for its files change then.
    /// - Returns: false where there is no database, and need not be one.
    /// Throws `storage.damaged`, `storage.foreign_file`, `storage.newer_schema`, `storage.corrupt` and `storage.unavailable`.
    @discardableResult
    package static func inspect(_ path: String, _ mark: DatabaseMark? = nil) async throws(PushError) -> Bool {
        if let mark, try await examine(path, mark) == .absent { return false }
        return try await SQLiteDatabase.blocking {
            try SQLiteFile.check(path)
            let queue = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
            if let flaw = try queue.read({ try SQLiteFile.flaw(in: $0) }) { throw StorageError.corruptPages(path, flaw) }
            try queue.close()
            return true
        }.mapError { PushError($0, database: path) }.get()
    }

    /// What is kept in a database that nobody need have open.
    package struct Contents: Sendable {
        package let hubs: [String]
        /// Secure payloads that can still be read, by the marks of their keys.
        package let payloadsByKey: [[UInt8]: Int]
        /// Accounts with a hash that is cheaper than that of an account that is served.
        package let cheapAccounts: Int
        /// Nil for a database of a version that stored secrets in clear.
        package let sealing: SealingState?
    }

    /// Of a database of this version or one before, also while another process uses it.
    package static func contents(of path: String) async throws(PushError) -> Contents {
        try await SQLiteDatabase.blocking {
            try SQLiteFile.check(path)
            let queue = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
            let contents = try queue.read { database in
                Contents(
                    hubs: try database.all("SELECT name FROM hub ORDER BY number") { $0.text(0) },
                    payloadsByKey: try SQLiteSecurePayloadStore.readableByKey(in: database),
                    cheapAccounts: try SQLiteAccountStore.count(cheaperThan: .served, in: database),
                    sealing: try SealingState(in: database))
            }
            try queue.close()
            return contents
        }.mapError { PushError($0, database: path) }.get()
    }

    package func checkWriting() async throws(PushError) {
        // A row that changes into what it is would not be written.
        try await database.write { database in
            try database.run("INSERT INTO leaving_hub VALUES (-1)")
            try database.run("DELETE FROM leaving_hub WHERE number = -1")
        }
    }

    package func close() async throws(PushError) { try await database.close() }

    // MARK: - Backup

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
            // Unlike a renaming, this does not overwrite what came in between.
            guard link(partial, path) == 0 else { throw errno == EEXIST ? taken : SQLiteFile.failure("made", path) }
        }
    }

    package func restore(
        from path: String, _ secrets: LostSecrets, whenChecked: @Sendable () async -> Void
    ) async throws(PushError) -> RenewedSecrets {
        let staged = "\(database.path).restoring"
        defer { SQLiteFile.remove(staged) }
        let renewed = try await Self.prepare(path, as: staged, database.seal, secrets, for: .restoringInServer)
        // The folder's mark names the identity of this database, and goes on doing so.
        if let identity = try await database.read({ try SQLiteFile.identity(of: $0) }) { try await Self.identify(staged, as: identity) }
        await whenChecked()
        try await database.replace(from: staged)
        return renewed
    }

    /// Puts a backup in the place of a database that nobody has open, whatever that one is: broken, of another program, or none.
    ///
    /// - Parameters:
    ///   - mark: what the folder records about the database; the backup gets the identity that it names.
    ///   - whenChecked: called when the backup is known to be good, and before anything changes.
    /// - Returns: what was wrong with the one before, nil for one that was whole, or none; and what was renewed.
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

    /// Puts new secrets in the place of those that do not open, in a database that no process has open. One of an older version is
    /// brought up to date, and its secrets are sealed.
    ///
    /// Throws `storage.not_found`, and what `open` throws but `storage.sealed`.
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

    /// With which key the secrets of a database are sealed that no process has open; nil for one of a version that stored them in clear.
    /// Changes nothing.
    ///
    /// Throws `storage.damaged`, `storage.foreign_file`, `storage.newer_schema`, `storage.corrupt` and `storage.unavailable`.
    package static func sealing(of path: String) async throws(PushError) -> SealingState? {
        try await SQLiteDatabase.blocking {
            _ = try DatabaseFiles(path: path).examine(DatabaseMark())
            try SQLiteFile.check(path)
            let queue = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
            let state = try queue.read { try SealingState(in: $0) }
            try queue.close()
            return state
        }.mapError { PushError($0, database: path) }.get()
    }

    /// Copies a database that may have a log beside it to a new file that needs none; looks first whether it is a backup.
    ///
    /// - Parameter seal: for a database of an older version: its copy is brought up to date, and the secrets in it are sealed. Nil copies
    ///   everything as it is.
    /// Throws what `restore` throws.
    package static func copy(_ path: String, to copy: String, sealing seal: SecretSeal? = nil) async throws(PushError) {
        do throws(PushError) {
            try await SQLiteDatabase.blocking {
                try Self.duplicate(path, as: copy)
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

    /// Makes a copy of a backup that can be put in the place of everything.
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
            error.message = "the backup \(path) is of no use: \(error.message.replacing(staged, with: path))"
            throw error
        }
    }

    /// Refuses a backup with hubs that cannot be read, before it takes the place of one without. Single devices and held removals that
    /// cannot be read are left out, as at any start, and reported by the hub that loads them.
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

    /// Makes a copy that can be put in the place of everything: checked, with the tables of this version, and sealed.
    private static func stage(
        _ path: String, as staged: String, _ seal: SecretSeal, _ secrets: LostSecrets, for use: SealedUse
    ) throws -> RenewedSecrets {
        try duplicate(path, as: staged)
        let migrated = try DatabaseQueue(path: staged, configuration: SQLiteFile.configuration(readonly: false))
        if case .refused = secrets { try migrated.read { try SealingState.check($0, path, opensWith: seal, for: use) } }
        try SQLiteSchema.migrator(sealingWith: seal).migrate(migrated)
        let renewed = try migrated.write { database in
            try SQLiteRunStore.settle(in: database)
            guard case .renewed(let now) = secrets else { return RenewedSecrets() }
            return try SecretRenewal(seal: seal, now: now, database: database).run()
        }
        try SealingState.eraseResidue(migrated)
        try migrated.close()
        return renewed
    }

    /// Makes a copy of a database, checked.
    private static func duplicate(_ path: String, as staged: String) throws {
        guard SQLiteFile.exists(path) else { throw SQLiteFile.missing(path) }
        // A log beside it belongs to it, and must be whole.
        _ = try DatabaseFiles(path: path).examine(DatabaseMark())
        try SQLiteFile.check(path)
        SQLiteFile.remove(staged)
        let source = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
        try source.read { database in
            guard try database.first("PRAGMA application_id", read: { $0.integer(0) }) == SQLiteSchema.applicationID else {
                throw SQLiteFile.foreign(path, "it is empty")
            }
            if let flaw = try SQLiteFile.flaw(in: database) {
                throw StorageError.corrupt("the database \(path)", flaw, hint: "name another backup")
            }
            try copy(database, to: staged)
        }
    }

    private static func copy(_ database: Database, to path: String) throws {
        try SQLiteFile.prepare(path)
        let copy = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: false))
        try copy.writeWithoutTransaction { copy in
            try database.backup(to: copy)
            // One file, which can be read without others beside it.
            try copy.execute(sql: "PRAGMA journal_mode = DELETE")
        }
        // Free pages of one that could not be cleaned are not to go on in its copies.
        try SealingState.eraseResidue(copy)
        try copy.close()
    }
}
