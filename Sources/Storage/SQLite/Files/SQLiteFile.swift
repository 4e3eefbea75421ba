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

    /// Reads from a database, and leaves its files as they were: removes the empty log and the index that SQLite creates even to read.
    static func read<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
        let hasLog = exists("\(path)-wal")
        let queue = try DatabaseQueue(path: path, configuration: configuration(readonly: true))
        let value = Result { try queue.read(body) }
        try queue.close()
        if !hasLog, size("\(path)-wal") == 0, !exists("\(path)-journal") { checkpointRemainingLog(path) }
        return try value.get()
    }

    /// Calls `work`, which may open and close connections, and prevents SQLite from moving a log with changes into the database when the
    /// last of them closes.
    static func keepingLog<Value>(of path: String, _ work: () throws -> Value) throws -> Value {
        guard hasLog(path) else { return try work() }
        // SQLite keeps the log while another connection is open, and a connection that only reads cannot move it.
        let reader = try DatabaseQueue(path: path, configuration: configuration(readonly: true))
        _ = try reader.read { try $0.first("PRAGMA schema_version") { $0.integer(0) } }
        let value = Result { try work() }
        try reader.close()
        return try value.get()
    }

    /// Whether a database has a log with more than a header.
    static func hasLog(_ path: String) -> Bool { (size("\(path)-wal") ?? 0) > WriteAheadLog.headerSize }

    /// Gives a closed database a log of one byte, which SQLite treats as an empty one. Without a log that is not empty, GRDB creates and
    /// drops a table to make one, which would change a database that then cannot be used.
    static func prepareLog(of path: String) {
        let log = "\(path)-wal"
        guard (size(log) ?? 0) == 0, usesLog(path) else { return }
        let file = Glibc.open(log, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        FileOwner.give(file, toOwnerOf: path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
        // Needs no disk space.
        ftruncate(file, 1)
    }

    private static func usesLog(_ path: String) -> Bool {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: DatabaseHeader.size)
        guard pread(file, &bytes, bytes.count, 0) == bytes.count else { return false }
        return DatabaseHeader(bytes)?.usesLog == true
    }

    /// Rejects files that are not databases, belong to another program, or were written by a newer version. An empty file is a new
    /// database, unless it has a log: SQLite would delete that, even when it only reads.
    static func check(_ path: String) throws(PushError) {
        if size(path) == 0, let log = size("\(path)-wal"), log > WriteAheadLog.headerSize {
            throw StorageError.damaged(path, "is empty, but its write-ahead log, \(path)-wal, has \(log) bytes")
        }
        do {
            try read(path) { try check($0, path) }
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

    /// Checks pages, rows and indexes for damage.
    ///
    /// Not with `quick_check`, which takes a quarter of the time (1.5 s per GiB instead of 5 s), but does not compare indexes with their
    /// tables and does not check the order of rows: it accepts an older copy of the database beside a newer log.
    ///
    /// - Returns: the first finding; nil if there is none.
    static func flaw(in database: Database) throws -> String? {
        let answers = try database.all("PRAGMA integrity_check(1)") { $0.text(0) }
        // Some answers start with a line that names the schema.
        return answers == ["ok"] ? nil : answers.first?.split(separator: "\n").last.map { String($0).asClause } ?? "no answer"
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
