import GRDB
import Glibc
import PushModel
import Support
import Testing

@testable import Storage

/// Logs that lack acknowledged changes, and all logs that SQLite leaves when its process is killed or the power fails.
@Suite struct LogLossTests {
    /// The files of a database at one time.
    private struct Files {
        /// What SQLite had just done.
        let step: String
        let database: [UInt8]
        let log: [UInt8]
        let index: [UInt8]
    }

    private let folder: Folder
    private let path: String
    private let mark: DatabaseMark

    init() throws {
        folder = try Folder()
        path = folder.file("copy.db")
        mark = DatabaseMark(unclosed: folder.file("database-open"))
    }

    private func put(_ database: [UInt8], _ log: [UInt8]?, _ index: [UInt8]?) throws {
        try folder.write(database, to: "copy.db")
        for (name, bytes) in [("copy.db-wal", log), ("copy.db-shm", index)] {
            if let bytes { try folder.write(bytes, to: name) } else { unlink(folder.file(name)) }
        }
    }

    private func flaw(_ mark: DatabaseMark) -> PushError? {
        do throws(PushError) {
            _ = try DatabaseFiles(path: path).examine(mark)
            return nil
        } catch {
            return error
        }
    }

    /// The files of a database after every kind of change of its log that a running server causes: commits, transactions that do not fit
    /// into the cache (before and after their end), checkpoints that are complete or hindered by a reader, and restarts of the log.
    private func history() throws -> [Files] {
        let source = try Folder()
        let path = source.file("hub.db")
        let writer = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: false))
        let reader = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: true))
        var history: [Files] = []
        func note(_ step: String) throws {
            history.append(
                Files(
                    step: step, database: try source.bytes(of: "hub.db"), log: try source.bytes(of: "hub.db-wal"),
                    index: try source.bytes(of: "hub.db-shm")))
        }
        func execute(_ sql: String) throws { try writer.writeWithoutTransaction { try $0.execute(sql: sql) } }
        func insert(_ count: Int) throws {
            for _ in 0..<count { try execute("INSERT INTO part (content) VALUES (printf('%.*c', 3000, 'x'))") }
        }
        try execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5;"
                + "CREATE TABLE part (id INTEGER PRIMARY KEY, content TEXT)")
        for round in 1...2 {
            try insert(1)
            try note("\(round): a commit")
            try writer.writeWithoutTransaction { database in
                func large(_ end: String) throws {
                    try database.execute(sql: "BEGIN")
                    for _ in 0..<12 { try database.execute(sql: "INSERT INTO part (content) VALUES (printf('%.*c', 3000, 'y'))") }
                    try note("\(round): before \(end)")
                    try database.execute(sql: end)
                    try note("\(round): after \(end)")
                }
                try large("ROLLBACK")
                try large("COMMIT")
            }
            try reader.read { database in
                _ = try database.first("SELECT count(*) FROM part") { $0.integer(0) }
                try insert(1)
                try execute("PRAGMA wal_checkpoint(PASSIVE)")
                try note("\(round): a hindered checkpoint")
            }
            try insert(1)
            try execute("PRAGMA wal_checkpoint(PASSIVE)")
            try note("\(round): a checkpoint")
            // The next commit restarts the log by itself in the first round.
            if round == 2 {
                try execute("PRAGMA wal_checkpoint(RESTART)")
                try note("\(round): a restart")
            }
            try insert(1)
            try note("\(round): a commit at the start of the log")
        }
        try reader.close()
        try writer.close()
        return history
    }

    // MARK: - Crashes

    @Test func `Nothing that a kill or a power failure leaves counts as a loss`() throws {
        let history = try history()
        #expect(Set(history.map { $0.log[16..<24] }).count == 3)
        for (number, files) in history.enumerated() {
            // A kill leaves the index of the same time. SQLite never syncs it, so a power failure leaves an older one or none.
            for older in history[...number] {
                try put(files.database, files.log, older.index)
                #expect(flaw(mark) == nil, "\(files.step), index of \(older.step): \(flaw(mark)?.message ?? "")")
            }
            for index in [nil, [], [UInt8](repeating: 0, count: 32_768), Array(files.index.prefix(90))] as [[UInt8]?] {
                try put(files.database, files.log, index)
                #expect(flaw(mark) == nil, "\(files.step), without an index: \(flaw(mark)?.message ?? "")")
            }
        }
    }

    @Test func `A log whose writing was interrupted does not count as a loss`() throws {
        let history = try history()
        var count = 0
        for (files, next) in zip(history, history.dropFirst()) where files.log != next.log {
            let start = zip(files.log, next.log).prefix { $0 == $1 }.count
            // SQLite writes the header at once, and then each frame in two steps.
            for cut in [max(start, 32), start + 24, start + 1000, start + 4120, start + 4144] where cut < next.log.count && cut >= 32 {
                try put(files.database, Array(next.log[..<cut]) + files.log.dropFirst(cut), files.index)
                #expect(flaw(mark) == nil, "\(files.step), then \(cut) bytes of \(next.step): \(flaw(mark)?.message ?? "")")
                count += 1
            }
        }
        #expect(count > 20)
    }

    @Test func `A database that was killed before it was marked may have an empty log`() throws {
        let last = try #require(try history().last)
        for log in [nil, [], [0], Array(last.log.prefix(32))] as [[UInt8]?] {
            try put(last.database, log, nil)
            #expect(flaw(DatabaseMark()) == nil)
            #expect(try DatabaseFiles(path: path).suspectedLoss(DatabaseMark()) == nil)
        }
    }

    // MARK: - Losses

    @Test func `A log that was emptied, truncated or removed is reported, and nothing is changed`() throws {
        for files in try history() where files.step.hasSuffix("a commit") || files.step.hasSuffix("after COMMIT") {
            let frames = try #require(WriteAheadLogIndex(files.index)).frameCount
            let kinds: [(log: [UInt8]?, index: [UInt8]?, finding: String)] = [
                (nil, files.index, "is missing"), (nil, nil, "is missing"), ([], files.index, "is empty"), ([], nil, "is empty"),
                (Array(files.log.prefix(32)), files.index, "has only 32 bytes"),
                (Array(files.log.prefix(4000)), nil, "has only 4000 bytes"),
                (Array(files.log.prefix(32 + 4120)), files.index, "of \(frames) frames"),
            ]
            for kind in kinds where kind.log != files.log {
                try put(files.database, kind.log, kind.index)
                let names = folder.files
                let error = try #require(flaw(mark), "\(files.step): \(kind.finding)")
                #expect(error.code == "storage.damaged")
                #expect(
                    error.message.hasPrefix("the database \(path) was not closed, and its write-ahead log, \(path)-wal,"),
                    "\(error.message)")
                #expect(error.message.contains(kind.finding), "\(error.message)")
                #expect(error.hint?.contains("pushhost hub restore FILE") == true)
                #expect(error.hint?.hasSuffix("remove \(folder.file("database-open"))") == true, "\(error.hint ?? "")")
                #expect(folder.files == names && (try? folder.bytes(of: "copy.db-wal")) == kind.log)
                // Without the mark the start continues, and warns if the index shows the loss.
                #expect(flaw(DatabaseMark()) == nil)
                let suspicion = try DatabaseFiles(path: path).suspectedLoss(DatabaseMark())
                #expect((suspicion != nil) == (kind.index != nil))
            }
        }
    }

    @Test func `Without its index, the log of a database that was not closed may lack changes`() throws {
        let files = try #require(try history().last { $0.step.hasSuffix("after COMMIT") })
        for log in [files.log, Array(files.log.prefix(32 + 4120))] {
            try put(files.database, log, nil)
            #expect(flaw(mark) == nil)
            let suspicion = try #require(try DatabaseFiles(path: path).suspectedLoss(mark))
            #expect(suspicion.contains("the index of its write-ahead log, \(path)-shm, is missing"), "\(suspicion)")
            // A log without a mark belongs to a database that was closed, or not in use yet.
            #expect(try DatabaseFiles(path: path).suspectedLoss(DatabaseMark()) == nil)
        }
        try put(files.database, files.log, files.index)
        #expect(try DatabaseFiles(path: path).suspectedLoss(mark) == nil)
        // A backup in place of the database has no log.
        var backup = files.database
        (backup[18], backup[19]) = (1, 1)
        try put(backup, nil, nil)
        #expect(try DatabaseFiles(path: path).suspectedLoss(mark) == nil)
    }

    @Test func `Frames that a checkpoint has copied are not missing, unless older ones would hide them`() throws {
        let files = try #require(try history().first { $0.step == "1: a checkpoint" })
        for log in [nil, []] as [[UInt8]?] {
            try put(files.database, log, files.index)
            #expect(flaw(mark) == nil)
        }
        // SQLite would show the pages of the remaining frames instead of newer ones in the database.
        try put(files.database, Array(files.log.prefix(32 + 2 * 4120)), files.index)
        for mark in [mark, DatabaseMark()] {
            let error = try #require(flaw(mark))
            #expect(error.message.contains("frames") && error.hint?.contains("remove \(path)-wal \(path)-shm") == true, "\(error)")
        }
    }

    @Test func `A backup or another database in place of one that was not closed needs no log`() throws {
        let files = try #require(try history().last)
        var backup = files.database
        (backup[18], backup[19]) = (1, 1)
        try put(backup, nil, nil)
        #expect(flaw(mark) == nil)
        var other = files.database
        other[63] = 7
        try put(other, nil, files.index)
        var own = mark
        own.identity = DatabaseIdentity(text: "8")
        #expect(flaw(own) == nil)
        own.identity = DatabaseIdentity(text: "7")
        #expect(flaw(own) != nil)
    }

    // MARK: - Opening and closing

    @Test func `Reading a closed database and a rejected opening leave its files as they were`() async throws {
        let bench = try await Bench()
        try await bench.storage.namespace.putHub(Samples.hub(1))
        try await bench.storage.close()
        let (folder, path) = (bench.folder, bench.folder.file("hub.db"))
        let before = try folder.bytes(of: "hub.db")
        let ways: [(name: String, work: Work)] = [
            ("another key", { try await SQLiteStorage.open(path, seal: .keyed(8)).close() }),
            ("the doctor", { _ = try await SQLiteStorage.inspect(path, DatabaseMark(isUsed: true)) }),
            ("its contents", { _ = try await SQLiteStorage.contents(of: path) }),
            ("its key", { _ = try await SQLiteStorage.sealing(of: path) }),
            ("the audit log", { _ = try await SQLiteAuditFile(path: path).verify() }),
            ("opening", { try await SQLiteStorage.open(path).close() }),
        ]
        for way in ways {
            let error = await refusal { try await way.work() }
            #expect(error?.code == (way.name == "another key" ? "storage.sealed" : nil), "\(way.name): \(error?.message ?? "")")
            #expect(folder.files == ["hub.db"], "\(way.name)")
            #expect(try folder.bytes(of: "hub.db") == before, "\(way.name)")
        }
    }

    @Test func `A start that fails after opening leaves the database and its log as they were`() async throws {
        let bench = try await Bench()
        try await bench.storage.namespace.putHub(Samples.hub(1))
        _ = try await bench.storage.identify(as: DatabaseIdentity(random: 1 << 40))
        try await bench.storage.namespace.putHub(Samples.hub(2))
        // As a kill leaves the files, and as a stop does.
        for ending in ["", "-wal", "-shm"] { try folder.write(try bench.folder.bytes(of: "hub.db\(ending)"), to: "copy.db\(ending)") }
        try await bench.storage.close()
        try folder.write(try bench.folder.bytes(of: "hub.db"), to: "closed.db")
        for name in ["copy.db", "closed.db"] {
            let (database, log) = (try folder.bytes(of: name), try? folder.bytes(of: "\(name)-wal"))
            #expect(SQLiteStorage.hasLog(folder.file(name)) == (log != nil))
            let storage = try await SQLiteStorage.open(folder.file(name))
            #expect(try await storage.namespace.load().hubs.count == 2)
            try await storage.closeKeepingLog()
            #expect(try folder.bytes(of: name) == database, "\(name)")
            #expect((try? folder.bytes(of: "\(name)-wal")) == log, "\(name)")
        }
        #expect(folder.files == ["closed.db", "copy.db", "copy.db-shm", "copy.db-wal"])
        #expect(flaw(mark) == nil)
        try await SQLiteStorage.open(path).close()
        #expect(folder.files == ["closed.db", "copy.db"])
    }

    @Test func `After a checkpoint the log is no longer needed`() async throws {
        let bench = try await Bench()
        try await bench.storage.namespace.putHub(Samples.hub(1))
        try await bench.storage.checkpoint()
        try put(try bench.folder.bytes(of: "hub.db"), nil, try bench.folder.bytes(of: "hub.db-shm"))
        #expect(flaw(mark) == nil)
        try await bench.storage.close()
    }
}
