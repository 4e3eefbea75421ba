import GRDB
import Glibc
import PushModel
import Support
import Testing

@testable import Storage

/// The log of a database in use, after another program or SQLite itself has changed its files.
@Suite struct OpenLogTests {
    /// A database whose log has several frames that are nowhere else.
    private func used() async throws -> Bench {
        let bench = try await Bench()
        try await bench.storage.namespace.putHub(Samples.hub(1))
        try await bench.storage.checkpoint()
        try await bench.storage.namespace.putHub(Samples.hub(2))
        try await bench.storage.checkWriting()
        return bench
    }

    @Test(arguments: [0, 32, 32 + 4120], [false, true])
    func `A log that another program truncates counts as damage, also after a later change, and closing changes nothing`(
        size: Int, isLonger: Bool
    ) async throws {
        let bench = try await used()
        let (folder, storage, path) = (bench.folder, bench.storage, bench.folder.file("hub.db"))
        #expect(await refusal { try await SQLiteStorage.examineOpenLog(of: path) } == nil)
        try #require(truncate("\(path)-wal", off_t(size)) == 0)
        // SQLite writes it behind the missing frames, and the file system fills their space with zeros.
        if isLonger { try await bench.execute("INSERT INTO leaving_hub VALUES (-1)") }
        let files = try ["hub.db", "hub.db-wal"].map { try folder.bytes(of: $0) }
        let error = await refusal { try await storage.checkWriting() }
        #expect(error?.code == "storage.damaged" && storage.damage == error, "\(error?.message ?? "none")")
        let finding = "the database \(path) has lost changes: its write-ahead log, \(path)-wal, was truncated: it has "
        #expect(error?.message.hasPrefix(finding) == true, "\(error?.message ?? "none")")
        #expect(await refusal { try await SQLiteStorage.examineOpenLog(of: path) } == error)
        #expect(await refusal { try await storage.checkpoint() }?.code == "storage.damaged")
        try await storage.close()
        #expect(try ["hub.db", "hub.db-wal"].map { try folder.bytes(of: $0) } == files)
        let mark = DatabaseMark(isUsed: true, unclosed: folder.file("database-open"))
        #expect(await refusal { _ = try await SQLiteStorage.examine(path, mark) }?.code == "storage.damaged")
    }

    @Test(arguments: ["-wal", "-shm"], [false, true])
    func `A log or index that is removed or replaced is reported until it is back, and closing saves the changes`(
        ending: String, isReplaced: Bool
    ) async throws {
        let bench = try await used()
        let (folder, storage, path) = (bench.folder, bench.storage, bench.folder.file("hub.db"))
        let (file, aside) = ("\(path)\(ending)", folder.file("aside"))
        try #require(rename(file, aside) == 0)
        if isReplaced { try folder.write(try folder.bytes(of: "aside"), to: "hub.db\(ending)") }
        let error = await refusal { try await storage.checkWriting() }
        #expect(error?.code == "storage.unavailable" && storage.damage == nil, "\(error?.message ?? "none")")
        #expect(error?.message.contains("was removed or replaced") == true && error?.message.contains(file) == true)
        if !isReplaced { #expect(await refusal { try await SQLiteStorage.examineOpenLog(of: path) } == error) }
        try #require(rename(aside, file) == 0)
        try await storage.checkWriting()
        try #require(unlink(file) == 0)
        #expect(await refusal { try await storage.checkWriting() } == error)
        try await storage.namespace.putHub(Samples.hub(3))
        try await storage.checkpoint()
        try await storage.close()
        let reopened = try await SQLiteStorage.open(path)
        #expect(try await reopened.namespace.load().hubs.count == 3)
        try await reopened.close()
    }

    @Test(arguments: [false, true])
    func `Connections opened after the log was replaced or removed do not change what closing saves`(isReplaced: Bool) async throws {
        let bench = try await used()
        let (folder, storage, path) = (bench.folder, bench.storage, bench.folder.file("hub.db"))
        try #require(rename("\(path)-wal", folder.file("aside")) == 0)
        if isReplaced { try folder.write(try folder.bytes(of: "aside"), to: "hub.db-wal") }
        for number in Int64(3)...40 {
            try await storage.namespace.putHub(Samples.hub(number))
            // Readers open connections of their own when they are needed. They may fail, because they see the other log.
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { _ = try? await storage.namespace.load() } }
            }
        }
        try await storage.close()
        let reopened = try await SQLiteStorage.open(path)
        #expect(try await reopened.namespace.load().hubs.count == 40)
        try await reopened.checkPages()
        #expect(reopened.damage == nil)
        try await reopened.close()
    }

    @Test func `Closing copies nothing from a log that was truncated and then replaced`() async throws {
        let bench = try await used()
        let (folder, path) = (bench.folder, bench.folder.file("hub.db"))
        try #require(truncate("\(path)-wal", 32) == 0)
        try #require(rename("\(path)-wal", folder.file("aside")) == 0)
        try folder.write(try folder.bytes(of: "aside"), to: "hub.db-wal")
        let database = try folder.bytes(of: "hub.db")
        try await bench.storage.close()
        #expect(try folder.bytes(of: "hub.db") == database)
    }

    @Test func `Closing leaves the log of another database that took the place of the open one`() async throws {
        let bench = try await used()
        let (folder, path) = (bench.folder, bench.folder.file("hub.db"))
        let files = ["hub.db", "hub.db-wal"]
        for file in files {
            try #require(rename(folder.file(file), folder.file("old-\(file)")) == 0)
            try folder.write(try folder.bytes(of: "old-\(file)"), to: file)
        }
        try #require(unlink("\(path)-shm") == 0)
        let other = try files.map { try folder.bytes(of: $0) }
        try await bench.storage.close()
        #expect(try files.map { try folder.bytes(of: $0) } == other)
    }

    @Test func `Both files that another process has created again do not hide that the log was removed`() async throws {
        let bench = try await used()
        let path = bench.folder.file("hub.db")
        for ending in ["-wal", "-shm"] { try #require(unlink("\(path)\(ending)") == 0) }
        let error = await refusal { try await SQLiteStorage.examineOpenLog(of: path) }
        #expect(error?.message.contains("\(path)-wal was removed or replaced") == true, "\(error?.message ?? "none")")
        // A process that reads the database without its log creates an empty one, and an index without frames.
        let other = try Folder()
        try other.write(try bench.folder.bytes(of: "hub.db"), to: "hub.db")
        let reader = try DatabaseQueue(path: other.file("hub.db"), configuration: SQLiteFile.configuration(readonly: true))
        _ = try await reader.read { try $0.first("PRAGMA schema_version") { $0.integer(0) } }
        for ending in ["-wal", "-shm"] { try bench.folder.write(try other.bytes(of: "hub.db\(ending)"), to: "hub.db\(ending)") }
        try reader.close()
        #expect(await refusal { try await SQLiteStorage.examineOpenLog(of: path) } == error)
        try await bench.storage.checkpoint()
        try await bench.storage.close()
    }

    @Test func `What SQLite and other connections do with the log does not count as a loss`() async throws {
        let bench = try await used()
        let (storage, path, backup) = (bench.storage, bench.folder.file("hub.db"), bench.folder.file("backup.db"))
        let steps: [(name: String, work: Work)] = [
            ("a change", { try await storage.namespace.putHub(Samples.hub(3)) }),
            ("a checkpoint", { try await storage.checkpoint() }),
            ("a complete checkpoint", { try await bench.execute("PRAGMA wal_checkpoint(RESTART)") }),
            ("a shorter log", { try await bench.execute("PRAGMA journal_size_limit = 0; PRAGMA wal_checkpoint(RESTART)") }),
            ("the change that shortens it", { try await storage.namespace.putHub(Samples.hub(4)) }),
            ("an empty log", { try await bench.execute("PRAGMA wal_checkpoint(TRUNCATE)") }),
            ("a rewritten database", { try await bench.execute("VACUUM") }),
            ("the check of all pages", { try await storage.checkPages() }),
            ("the doctor", { _ = try await SQLiteStorage.inspect(path) }),
            ("its contents", { _ = try await SQLiteStorage.contents(of: path) }),
            ("a backup", { try await storage.backup(to: backup) }),
            ("a restore", { try await storage.restore(from: backup) }),
        ]
        for step in steps {
            try await step.work()
            let found = await refusal { try await SQLiteStorage.examineOpenLog(of: path) }
            #expect(found == nil, "\(step.name): \(found?.message ?? "")")
            let error = await refusal { try await storage.checkWriting() }
            #expect(error == nil && storage.damage == nil, "\(step.name): \(error?.message ?? "")")
        }
        try await storage.close()
    }

    @Test func `A truncated log does not count as a loss if all of it is in the database`() async throws {
        let bench = try await used()
        let (storage, path) = (bench.storage, bench.folder.file("hub.db"))
        try await storage.checkpoint()
        try #require(truncate("\(path)-wal", 0) == 0)
        #expect(await refusal { try await SQLiteStorage.examineOpenLog(of: path) } == nil)
        try await storage.checkWriting()
        try await storage.namespace.putHub(Samples.hub(3))
        try await storage.close()
        let reopened = try await SQLiteStorage.open(path)
        #expect(try await reopened.namespace.load().hubs.count == 3)
        try await reopened.checkPages()
        try await reopened.close()
    }
}
