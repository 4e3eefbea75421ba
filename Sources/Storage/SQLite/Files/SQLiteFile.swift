import GRDB
import Glibc
import PushModel

/// Operations on database files that are not being served.
enum SQLiteFile {
    /// For databases that are read or copied.
    static func configuration(readonly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { $0.add(collation: SQLiteSchema.tagCollation) }
        return configuration
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Size in bytes; nil if there is no file.
    private static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Creates the file if there is none, and makes it readable by its owner only. SQLite uses the same permissions for the files that it
    /// creates next to it.
    static func prepare(_ path: String) throws(PushError) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            // SQLite gives the files that it creates next to the database to the same owner.
            let slash = path.lastIndex(of: "/")
            FileOwner.give(descriptor, toOwnerOf: slash.map { String(path[...$0]) } ?? ".")
            close(descriptor)
            return
        }
        guard errno == EEXIST else { throw failure("created", path) }
        // By path: closing a descriptor of the file would release this process's locks on it.
        for file in [path, "\(path)-wal", "\(path)-shm"] {
            if chmod(file, 0o600) != 0, errno != ENOENT { throw failure("restricted to its owner", file) }
        }
    }

    /// Rejects files that are not databases, belong to another program, or were written by a newer version. An empty file is a new
    /// database, unless it has a log: SQLite would delete that, even when it only reads.
    static func check(_ path: String) throws(PushError) {
        if size(path) == 0, let log = size("\(path)-wal"), log > WriteAheadLog.headerSize {
            throw StorageError.damaged(path, "is empty, but its log, \(path)-wal, has \(log) bytes")
        }
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration(readonly: true))
            try queue.read { try check($0, path) }
            try queue.close()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
            throw foreign(path, "it is not a SQLite database")
        } catch {
            throw PushError(error, database: path)
        }
    }

    private static func check(_ database: Database, _ path: String) throws {
        let application = try database.first("PRAGMA application_id") { $0.integer(0) } ?? 0
        if application != SQLiteSchema.applicationID {
            let tables = try database.first("SELECT count(*) FROM sqlite_schema") { $0.integer(0) } ?? 0
            guard application == 0, tables == 0 else { throw foreign(path, "it is a database of another program") }
        }
        if try SQLiteSchema.migrator.hasBeenSuperseded(database) {
            throw PushError(
                "storage.newer_schema", "the database \(path) was written by a newer version of PushHost",
                hint: "use that version, or another file", status: 500)
        }
    }

    static func identity(of database: Database) throws -> DatabaseIdentity? {
        try database.first("PRAGMA user_version") { DatabaseIdentity(number: $0.integer(0)) } ?? nil
    }

    static func setIdentity(_ identity: DatabaseIdentity, of database: Database) throws {
        try database.execute(sql: "PRAGMA user_version = \(identity.number)")
    }

    /// Sets the identity of a database that no process has open.
    static func setIdentity(_ identity: DatabaseIdentity, ofFile path: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration(readonly: false))
        try queue.writeWithoutTransaction { try setIdentity(identity, of: $0) }
        try queue.close()
    }

    /// Checks pages and rows for damage.
    ///
    /// - Returns: description of the damage; nil if there is none.
    static func flaw(in database: Database) throws -> String? {
        firstFlaw(try database.all("PRAGMA integrity_check(1)") { $0.text(0) })
    }

    /// - Parameter answers: output of a SQLite check. Some answers start with a line that names the schema.
    static func firstFlaw(_ answers: [String]) -> String? {
        answers == ["ok"] ? nil : answers.first?.split(separator: "\n").last.map { String($0).asClause } ?? "no answer"
    }

    /// Replaces a database that no process has open. If there was a database before, a complete one exists at any time.
    ///
    /// - Parameter flaw: a known flaw of the old database, which is then not opened, to avoid further damage.
    /// - Returns: what was wrong with the old database.
    static func exchange(_ path: String, for staged: String, flaw: PushError? = nil) throws -> PushError? {
        if let flaw = try checkpoint(staged) { throw flaw }
        let flaw = try flaw ?? checkpoint(path)
        try flush(staged)
        // Remaining log files belong to an unusable database. They must not be applied to the new one.
        for file in ["\(path)-wal", "\(path)-shm", "\(path)-journal"] where unlink(file) != 0 && errno != ENOENT {
            throw failure("removed", file)
        }
        guard rename(staged, path) == 0 else { throw failure("replaced", path) }
        let slash = path.lastIndex(of: "/")
        try? flush(slash.map { String(path[...$0]) } ?? ".")
        return flaw
    }

    /// Checkpoints the log of a database into its file and checks the database.
    ///
    /// - Returns: what is wrong with the database; nil if it is usable.
    private static func checkpoint(_ path: String) throws -> PushError? {
        guard exists(path) else { return nil }
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration(readonly: false))
            try queue.writeWithoutTransaction { database in
                let isBusy = try database.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) } == 1
                if isBusy { throw DatabaseError(resultCode: .SQLITE_BUSY) }
                try check(database, path)
            }
            try queue.close()
            return nil
        } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) {
            throw PushError(error, database: path)
        } catch {
            return PushError(error, database: path)
        }
    }

    /// Checkpoints a remaining log. SQLite does that when the last connection closes, unless that connection is read-only. Keeps the log if
    /// another process has the database open.
    static func checkpointRemainingLog(_ path: String) {
        guard exists(path), exists("\(path)-wal") else { return }
        let queue = try? DatabaseQueue(path: path, configuration: configuration(readonly: false))
        _ = try? queue?.read { try $0.first("PRAGMA schema_version") { $0.integer(0) } }
        try? queue?.close()
    }

    private static func flush(_ path: String) throws(PushError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("opened", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("written to disk", path) }
    }

    static func foreign(_ path: String, _ why: String) -> PushError {
        PushError(
            "storage.foreign_file", "the file \(path) cannot be used: \(why)",
            hint: "name another file; in a data folder, restore a backup with pushhost hub restore FILE", status: 400)
    }

    static func missing(_ path: String) -> PushError {
        PushError("storage.not_found", "the file \(path) does not exist", hint: "name a backup", status: 404)
    }

    static func failure(_ what: String, _ path: String) -> PushError {
        StorageError.unavailable(
            "the file \(path) cannot be \(what): \(String(cString: strerror(errno)).asClause)",
            hint: "check the folder, its permissions and the free space on its disk")
    }

    /// Removes a temporary file and the files that SQLite created next to it.
    static func remove(_ path: String) {
        for file in [path, "\(path)-wal", "\(path)-shm", "\(path)-journal"] { unlink(file) }
    }
}
