import GRDB
import Glibc
import PushModel
import Support
import Testing

@testable import Storage

/// Checks of the database files before they are opened.
@Suite struct DatabaseFilesTests {
    private static let identity = DatabaseIdentity(random: 0x1234_5678_9ABC_DEF0)
    private static let used = DatabaseMark(identity: identity, isUsed: true)

    /// An engine with an identity and several transactions in the log, and a snapshot of its files named `copy.db`.
    private func snapshot(_ identity: DatabaseIdentity = identity) async throws -> Bench {
        let bench = try await Bench()
        try await bench.storage.namespace.putHub(Samples.hub(1))
        #expect(try await bench.storage.identify(as: identity) == identity)
        for number in 1...4 { _ = try await bench.store.accept(try Samples.notification(Int64(number))) }
        for ending in ["", "-wal"] { try bench.folder.write(try bench.folder.bytes(of: "hub.db\(ending)"), to: "copy.db\(ending)") }
        return bench
    }

    private func finding(_ folder: Folder, _ mark: DatabaseMark = used) async throws(PushError) -> DatabaseFinding {
        try await SQLiteStorage.examine(folder.file("copy.db"), mark)
    }

    private func flaw(_ folder: Folder, _ mark: DatabaseMark = used) async -> PushError? {
        await refusal { _ = try await finding(folder, mark) }
    }

    // MARK: - The database

    @Test func `A database that was in use and is now missing, empty, truncated or overwritten is rejected and left unchanged`()
        async throws
    {
        let bench = try await snapshot()
        try await bench.storage.close()
        let folder = bench.folder
        let whole = try folder.bytes(of: "hub.db")
        unlink(folder.file("copy.db-wal"))
        let kinds: [(bytes: [UInt8]?, finding: String)] = [
            (nil, "is missing"), ([], "is empty"), (Array(whole.prefix(37)), "has 37 bytes that are not a SQLite database"),
            (Array(whole.prefix(whole.count / 2)), "is truncated"), (Array(whole.dropLast(4096)), "is truncated"),
            (Array(whole.dropLast()), "is truncated"),
            ([UInt8](repeating: 0, count: 100) + whole.dropFirst(100), "are not a SQLite database"),
            (Array("Dear diary, today I learned about databases".utf8), "are not a SQLite database"),
        ]
        for (bytes, text) in kinds {
            if let bytes { try folder.write(bytes, to: "copy.db") } else { unlink(folder.file("copy.db")) }
            let files = folder.files
            let error = await flaw(folder)
            #expect(error?.code == "storage.damaged" && error?.message.contains(text) == true, "\(text): \(error?.message ?? "")")
            #expect(error?.message.contains(folder.file("copy.db")) == true && error?.hint?.contains("pushhost hub restore") == true)
            #expect(folder.files == files && (bytes == nil || (try? folder.bytes(of: "copy.db")) == bytes))
            // The doctor command reports the same error.
            #expect(await refusal { try await SQLiteStorage.inspect(folder.file("copy.db"), Self.used) } == error)
        }
        try folder.write(whole, to: "copy.db")
        #expect(try await finding(folder) == .present(Self.identity))
    }

    @Test func `Tables that exist only in the log are reported as missing if the log is gone`() async throws {
        let bench = try await Bench()
        let folder = bench.folder
        // Only the first page is in the file. Everything else is in the log.
        for ending in ["", "-wal"] { try folder.write(try folder.bytes(of: "hub.db\(ending)"), to: "copy.db\(ending)") }
        let older = DatabaseMark(isUsed: true)
        #expect(try await finding(folder, older) == .present(nil))
        unlink(folder.file("copy.db-wal"))
        #expect(await flaw(folder, older)?.message.contains("has no tables") == true)
        try await bench.storage.close()
    }

    @Test func `A new database may be created if nothing shows that there was one`() async throws {
        let folder = try Folder()
        let unused = DatabaseMark(identity: Self.identity)
        #expect(try await finding(folder, unused) == .absent)
        #expect(try await !SQLiteStorage.inspect(folder.file("copy.db"), unused))
        try folder.write([], to: "copy.db")
        // This is what remains of a server that crashes before its first change.
        try folder.write([UInt8](repeating: 7, count: 32), to: "copy.db-wal")
        #expect(try await finding(folder, unused) == .absent)
        // A log shows it as well as a mark.
        try folder.write([UInt8](repeating: 7, count: 33), to: "copy.db-wal")
        #expect(await flaw(folder, unused)?.message.contains("has 33 bytes") == true)
        try folder.write(Array("Dear diary".utf8), to: "copy.db")
        #expect(await flaw(folder, unused)?.code == "storage.foreign_file")
    }

    @Test func `Files of a server show that there was a database, and the error names those to remove if there was none`() async throws {
        let folder = try Folder()
        let signs = [folder.file("lock"), folder.file("database-open")]
        for (bytes, text) in [(nil, "is missing"), ([], "is empty")] as [([UInt8]?, String)] {
            if let bytes { try folder.write(bytes, to: "copy.db") }
            let error = await flaw(folder, DatabaseMark(isUsed: true, signs: signs))
            #expect(error?.code == "storage.damaged" && error?.message.contains(text) == true, "\(error?.message ?? "none")")
            #expect(error?.hint?.hasSuffix("remove \(signs[0]) and \(signs[1])") == true, "\(error?.hint ?? "")")
            // A database that was not closed existed, whatever else is recorded.
            let unclosed = await flaw(folder, DatabaseMark(identity: Self.identity, unclosed: signs[1]))
            #expect(unclosed?.code == "storage.damaged" && unclosed?.hint?.contains("move the data folder away") == true)
            #expect(try await finding(folder, DatabaseMark(identity: Self.identity)) == .absent)
        }
    }

    // MARK: - The log

    /// Offsets of the frames in a log.
    private static func frames(_ log: [UInt8]) -> [Int] { Array(stride(from: 32, to: log.count - 4119, by: 24 + 4096)) }

    @Test func `Every log that a crash can leave is accepted`() async throws {
        let bench = try await snapshot()
        let folder = bench.folder
        let log = try folder.bytes(of: "copy.db-wal")
        let frames = Self.frames(log)
        let last = try #require(frames.last)
        #expect(frames.count > 4)
        func torn(_ index: Int) -> [UInt8] {
            var bytes = log
            bytes[index] ^= 0x10
            return bytes
        }
        let logs: [[UInt8]] = [
            log, Array(log.prefix(last + 1000)), Array(log.prefix(last)), torn(last + 100), torn(last + 4), torn(last + 20),
            log + [UInt8](repeating: 0, count: 9000), log + log[32...].map { $0 ^ 0x55 },
        ]
        let mark = DatabaseMark(identity: Self.identity, isUsed: true, unclosed: folder.file("database-open"))
        for (number, bytes) in logs.enumerated() {
            try folder.write(bytes, to: "copy.db-wal")
            #expect(try await finding(folder, mark) == .present(Self.identity), "\(number)")
        }
        // Only a database that was closed, or was not in use yet, has a log without changes.
        for bytes in [[], [0], Array(log.prefix(32))] {
            try folder.write(bytes, to: "copy.db-wal")
            #expect(await flaw(folder, mark)?.code == "storage.damaged", "\(bytes.count)")
            #expect(try await finding(folder) == .present(Self.identity), "\(bytes.count)")
        }
        try await bench.storage.close()
    }

    @Test func `A log from which SQLite would lose stored data is rejected`() async throws {
        let bench = try await snapshot()
        let folder = bench.folder
        let log = try folder.bytes(of: "copy.db-wal")
        let frames = Self.frames(log)
        func changed(_ index: Int) -> [UInt8] {
            var bytes = log
            bytes[index] ^= 0x10
            return bytes
        }
        let logs: [(bytes: [UInt8], finding: String)] = [
            (Array("no log at all, but longer than its header".utf8), "not a valid log"),
            ([UInt8](repeating: 0, count: 32) + log.dropFirst(32), "not a valid log"), (changed(17), "not a valid log"),
            (changed(frames[0] + 500), "from page 1 of"), (changed(frames[1] + 9), "from page 2 of"),
            (changed(frames[1] + 18), "from page 2 of"),
        ]
        for (bytes, text) in logs {
            try folder.write(bytes, to: "copy.db-wal")
            let error = await flaw(folder)
            #expect(error?.code == "storage.damaged" && error?.message.contains(text) == true, "\(text): \(error?.message ?? "")")
            #expect(error?.hint?.contains("move \(folder.file("copy.db"))-wal away") == true, "\(error?.hint ?? "")")
            #expect(try folder.bytes(of: "copy.db-wal") == bytes)
        }
        try await bench.storage.close()
    }

    @Test func `A log of another database is rejected`() async throws {
        let (one, other) = (try await snapshot(), try await snapshot(DatabaseIdentity(random: 1 << 40)))
        let folder = one.folder
        let log = try folder.bytes(of: "copy.db-wal")
        try await one.storage.backup(to: folder.file("backup.db"))
        let others = try other.folder.bytes(of: "copy.db")
        for (name, bytes) in [("the database of another folder", others), ("a backup", try folder.bytes(of: "backup.db"))] {
            try folder.write(bytes, to: "copy.db")
            for mark in [Self.used, DatabaseMark(identity: Self.identity)] {
                let error = await flaw(folder, mark)
                #expect(error?.message.contains("a log of another database next to it") == true, "\(name): \(error?.message ?? "none")")
            }
            #expect(try folder.bytes(of: "copy.db-wal") == log)
            // Without that log the database is accepted. The caller compares its identity.
            unlink(folder.file("copy.db-wal"))
            #expect(try await finding(folder) != .absent)
            try folder.write(log, to: "copy.db-wal")
        }
        for bench in [one, other] { try await bench.storage.close() }
    }

    @Test func `Pages that are only in the log are found, and pages that are nowhere are reported`() async throws {
        let bench = try await snapshot()
        let folder = bench.folder
        try await bench.store.commit(RegistrationChange(puts: (0..<500).map { Samples.put(UInt32($0), $0) }))
        let (database, log) = (try folder.bytes(of: "hub.db"), try folder.bytes(of: "hub.db-wal"))
        try folder.write(database, to: "copy.db")
        try folder.write(log, to: "copy.db-wal")
        let pages = try #require(try await bench.integer("PRAGMA page_count"))
        #expect(database.count < pages * 4096)
        #expect(try await finding(folder) == .present(Self.identity))
        try folder.write(Array(database.dropLast(4096 * 4)), to: "copy.db")
        #expect(await flaw(folder)?.message.contains("is truncated") == true)
        try await bench.storage.close()
    }

    @Test func `Opening an empty database never deletes the log next to it`() async throws {
        let bench = try await snapshot()
        let folder = bench.folder
        let path = folder.file("copy.db")
        let log = try folder.bytes(of: "copy.db-wal")
        try folder.write([], to: "copy.db")
        let ways: [(name: String, open: Work)] = [
            ("the server", { try await SQLiteStorage.open(path).close() }), ("the doctor", { _ = try await SQLiteStorage.inspect(path) }),
            ("its contents", { _ = try await SQLiteStorage.contents(of: path) }),
            ("the audit log", { _ = try await SQLiteAuditFile(path: path).verify() }),
            ("a restore from it", { try await bench.storage.restore(from: path) }),
            ("a copy", { try await SQLiteStorage.copy(path, to: folder.file("other.db")) }),
        ]
        for way in ways {
            #expect(await refusal { try await way.open() }?.code == "storage.damaged", "\(way.name)")
            #expect(try folder.bytes(of: "copy.db-wal") == log, "\(way.name)")
        }
        try await bench.storage.close()
    }

    @Test func `A backup with a damaged log is rejected, and nothing is lost`() async throws {
        let bench = try await snapshot()
        let folder = bench.folder
        let kept = try await bench.sequences()
        var log = try folder.bytes(of: "copy.db-wal")
        log[Self.frames(log)[0] + 500] ^= 1
        try folder.write(log, to: "copy.db-wal")
        let error = await refusal { try await bench.storage.restore(from: folder.file("copy.db")) }
        #expect(error?.code == "storage.damaged", "\(error?.message ?? "none")")
        #expect(try await bench.sequences() == kept)
        try await bench.storage.close()
    }

    // MARK: - Identity

    @Test func `An identity is set once, is stored in the file and in backups, and survives a restore`() async throws {
        let bench = try await Bench()
        let (folder, path) = (bench.folder, bench.folder.file("hub.db"))
        try await bench.storage.backup(to: folder.file("before.db"))
        #expect(try await bench.storage.identify(as: Self.identity) == Self.identity)
        #expect(try await bench.storage.identify(as: DatabaseIdentity(random: 1 << 40)) == Self.identity)
        #expect(DatabaseHeader(try folder.bytes(of: "hub.db"))?.identity == Self.identity)
        try await bench.storage.backup(to: folder.file("after.db"))
        #expect(DatabaseHeader(try folder.bytes(of: "after.db"))?.identity == Self.identity)
        try await bench.storage.restore(from: folder.file("before.db"))
        try await bench.storage.close()
        #expect(try await SQLiteStorage.examine(path, Self.used) == .present(Self.identity))
        let mark = DatabaseMark(identity: DatabaseIdentity(random: 3 << 40), isUsed: true)
        #expect(try await SQLiteStorage.replace(path, from: folder.file("before.db"), mark: mark) == nil)
        #expect(try await SQLiteStorage.examine(path, mark) == .present(mark.identity))
        #expect(DatabaseIdentity(text: Self.identity.text) == Self.identity)
        #expect(DatabaseIdentity(text: "0") == nil && DatabaseIdentity(text: "x") == nil)
    }

    @Test func `A backup repairs any damage, and the restore reports what it replaced`() async throws {
        let bench = try await snapshot()
        let folder = bench.folder
        try await bench.storage.backup(to: folder.file("backup.db"))
        let kept = try await bench.sequences()
        let (whole, log) = (try folder.bytes(of: "copy.db"), try folder.bytes(of: "copy.db-wal"))
        let kinds: [(database: [UInt8]?, log: [UInt8])] = [
            (nil, log), ([], log), (Array(whole.prefix(5000)), []), (whole, Array("no log at all, but longer than its header".utf8)),
            (try folder.bytes(of: "backup.db"), log),
        ]
        for (number, kind) in kinds.enumerated() {
            if let bytes = kind.database { try folder.write(bytes, to: "copy.db") } else { unlink(folder.file("copy.db")) }
            try folder.write(kind.log, to: "copy.db-wal")
            let found = await flaw(folder)
            let replaced = try await SQLiteStorage.replace(folder.file("copy.db"), from: folder.file("backup.db"), mark: Self.used)
            #expect(found != nil && replaced == found, "\(number): \(replaced?.message ?? "")")
            let storage = try await SQLiteStorage.open(folder.file("copy.db"))
            #expect(try await storage.namespace.store(ofHub: 1).unfinished(after: 0, limit: 99).map(\.sequence) == kept)
            try await storage.close()
            #expect(try await finding(folder) == .present(Self.identity))
        }
        try await bench.storage.close()
    }
}
