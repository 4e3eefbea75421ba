import GRDB
import Glibc
import PushModel
import Support
import Testing

@testable import Storage

@Suite struct BackupTests {
    private func filled() async throws -> Bench {
        let bench = try await Bench()
        try await bench.storage.namespace.putHub(Samples.hub(1))
        try await bench.store.commit(RegistrationChange(puts: (0..<500).map { Samples.put(UInt32($0), $0) }))
        _ = try await bench.store.accept(try Samples.notification(1, key: "key"))
        return bench
    }

    @Test func `A backup is a complete database without later changes`() async throws {
        let bench = try await filled()
        let kept = try await bench.store.load()
        try await bench.storage.backup(to: bench.folder.file("backup.db"))
        _ = try await bench.store.accept(try Samples.notification(2))
        #expect(!bench.folder.files.contains { $0.contains("partial") })
        let copy = try await SQLiteStorage.open(bench.folder.file("backup.db"))
        #expect(try await copy.namespace.store(ofHub: 1).load() == kept)
        #expect(try await copy.namespace.load() == (try await bench.storage.namespace.load()))
        try await copy.close()
    }

    @Test func `A backup during writes is consistent`() async throws {
        let bench = try await filled()
        let (storage, store) = (bench.storage, bench.store)
        let writing: [Work] = (0..<8).map { writer in
            {
                for index in 0..<50 { _ = try await store.accept(try Samples.notification(Int64(100 + index * 8 + writer))) }
            }
        }
        let path = bench.folder.file("backup.db")
        let results = await outcomes(writing + [{ try await storage.backup(to: path) }])
        #expect(results.allSatisfy { $0 == nil })
        let copy = try await SQLiteStorage.open(path)
        #expect(try await copy.database.read { try $0.first("PRAGMA integrity_check") { $0.text(0) } } == "ok")
        #expect(try await copy.namespace.store(ofHub: 1).load().registrations.count == 500)
        try await copy.close()
    }

    @Test func `A backup overwrites no file, and leaves none behind if it fails`() async throws {
        let bench = try await filled()
        try bench.folder.write([1, 2, 3], to: "taken")
        let files = bench.folder.files
        #expect(await refusal { try await bench.storage.backup(to: bench.folder.file("taken")) }?.code == "storage.backup_exists")
        #expect(try bench.folder.bytes(of: "taken") == [1, 2, 3])
        let error = await refusal { try await bench.storage.backup(to: bench.folder.file("no/folder/backup.db")) }
        #expect(error?.code == "storage.unavailable")
        #expect(bench.folder.files == files)
        #expect(try await bench.store.load().registrations.count == 500)
    }

    @Test func `A restore replaces everything in the running database`() async throws {
        let bench = try await filled()
        var put = Samples.put(900, 900)
        put.registration.description.template = try Samples.templates()[0]
        let backup = bench.folder.file("backup.db")
        let (hub, namespace) = (try await bench.store.load(), try await bench.storage.namespace.load())
        try await bench.storage.backup(to: backup)
        try await bench.store.commit(RegistrationChange(removals: [Samples.removal(0, 0)], puts: [put]))
        try await bench.storage.namespace.putHub(Samples.hub(7))
        try await bench.storage.restore(from: backup)
        #expect(try await bench.store.load() == hub)
        #expect(try await bench.storage.namespace.load() == namespace)
        // The database works on, and the changes survive closing. A template that was deleted is stored again.
        try await bench.store.commit(RegistrationChange(puts: [put]))
        #expect(try await bench.store.accept(try Samples.notification(2)) == .accepted)
        #expect(try await bench.integer("PRAGMA synchronous") == 2)
        let after = try await bench.store.load()
        #expect(after.registrations.last == put)
        try await bench.storage.close()
        #expect(bench.folder.files == ["backup.db", "hub.db"])
        let reopened = try await SQLiteStorage.open(bench.folder.file("hub.db"))
        #expect(try await reopened.namespace.store(ofHub: 1).load() == after)
        try await reopened.close()
    }

    @Test func `A restore of a smaller backup shrinks the database`() async throws {
        let bench = try await Bench()
        let backup = bench.folder.file("backup.db")
        try await bench.storage.backup(to: backup)
        try await bench.store.commit(RegistrationChange(puts: (0..<5000).map { Samples.put(UInt32($0), $0) }))
        try await bench.storage.restore(from: backup)
        #expect(try await bench.store.load() == StoredHub())
    }

    @Test func `A file that is not a backup is rejected, and nothing is lost`() async throws {
        let bench = try await filled()
        let kept = try await bench.store.load()
        let folder = bench.folder
        try folder.write(Array("no database at all, but long enough to be read as a header".utf8), to: "text")
        try folder.write([], to: "empty")
        let other = try DatabaseQueue(path: folder.file("other"))
        try await other.write { try $0.execute(sql: "CREATE TABLE registration (a)") }
        try other.close()
        try await bench.storage.backup(to: folder.file("newer"))
        let newer = try DatabaseQueue(path: folder.file("newer"))
        try await newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('tables of tomorrow')") }
        try newer.close()
        try await bench.storage.backup(to: folder.file("damaged"))
        var bytes = try folder.bytes(of: "damaged")
        for page in stride(from: 5 * 4096, to: bytes.count - 4096, by: 4096) {
            for index in page..<page + 2048 { bytes[index] = 0xA5 }
        }
        try folder.write(bytes, to: "damaged")
        let refused = [
            ("text", "storage.foreign_file"), ("empty", "storage.foreign_file"), ("other", "storage.foreign_file"),
            ("newer", "storage.newer_schema"), ("damaged", "storage.corrupt"), ("missing", "storage.not_found"),
        ]
        for (name, code) in refused {
            let error = await refusal { try await bench.storage.restore(from: folder.file(name)) }
            #expect(error?.code == code, "\(name)")
            #expect(error?.message.contains(folder.file(name)) == true, "\(error?.message ?? "")")
            #expect(try await bench.store.load() == kept)
        }
        #expect(!folder.files.contains { $0.contains("restoring") })
        #expect(try await bench.store.accept(try Samples.notification(9)) == .accepted)
    }

    @Test func `A database that cannot be opened can be replaced by a backup, and its log does not affect the new one`() async throws {
        let bench = try await filled()
        let folder = bench.folder
        let kept = try await bench.store.load()
        try await bench.storage.backup(to: folder.file("backup.db"))
        for name in ["hub.db", "hub.db-wal"] { try folder.write(try folder.bytes(of: name), to: "old.\(name)") }
        try await bench.storage.close()
        let whole = try folder.bytes(of: "hub.db")
        try await SQLiteStorage.copy(folder.file("backup.db"), to: folder.file("newer"))
        let newer = try DatabaseQueue(path: folder.file("newer"))
        try await newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('tables of tomorrow')") }
        try newer.close()
        let targets: [(bytes: [UInt8]?, code: String?)] = [
            (nil, "storage.damaged"), (whole, nil), (Array("no database at all, but long enough".utf8), "storage.foreign_file"),
            ([UInt8](repeating: 0, count: 100) + whole.dropFirst(100), "storage.foreign_file"),
            (try folder.bytes(of: "newer"), "storage.newer_schema"),
        ]
        for (index, target) in targets.enumerated() {
            if let bytes = target.bytes { try folder.write(bytes, to: "target.db") } else { unlink(folder.file("target.db")) }
            // The log of an intact database would repair it.
            let hasLog = target.bytes == nil || target.code == nil
            try folder.write(hasLog ? try folder.bytes(of: "old.hub.db-wal") : [1, 2, 3], to: "target.db-wal")
            let flaw = try await SQLiteStorage.replace(folder.file("target.db"), from: folder.file("backup.db"))
            #expect(flaw?.code == target.code, "\(index): \(flaw?.message ?? "")")
            let storage = try await SQLiteStorage.open(folder.file("target.db"))
            #expect(try await storage.namespace.store(ofHub: 1).load() == kept)
            try await storage.close()
        }
        try folder.write(whole, to: "target.db")
        let refusal = await refusal { _ = try await SQLiteStorage.replace(folder.file("target.db"), from: folder.file("newer")) }
        #expect(refusal?.code == "storage.newer_schema")
        #expect(try folder.bytes(of: "target.db") == whole)
        #expect(!folder.files.contains { $0.contains("restoring") || $0.hasPrefix("target.db-") }, "\(folder.files)")
    }
}
