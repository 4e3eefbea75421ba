import PushModel
import Support
import Testing

@testable import Storage

/// Damaged pages of a database that is in use.
@Suite struct PageCheckTests {
    /// A database with registrations, and a backup of it. While it was closed, the first page of a table was overwritten after the
    /// backup.
    private func damaged(_ table: String) async throws -> (folder: Folder, storage: SQLiteStorage) {
        let bench = try await Bench()
        let folder = bench.folder
        try await bench.storage.namespace.putHub(Samples.hub(1))
        try await bench.store.commit(RegistrationChange(puts: (0..<500).map { Samples.put(UInt32($0), $0) }))
        let page = try #require(try await bench.integer("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"))
        try await bench.storage.checkPages()
        try await bench.storage.backup(to: folder.file("backup.db"))
        try await bench.storage.close()
        var bytes = try folder.bytes(of: "hub.db")
        for index in (page - 1) * 4096..<page * 4096 { bytes[index] = 0xA5 }
        try folder.write(bytes, to: "hub.db")
        return (folder, try await SQLiteStorage.open(folder.file("hub.db")))
    }

    @Test func `The check finds a page that is never read, and a restore repairs it while the database is in use`() async throws {
        let (folder, storage) = try await damaged("provider_token")
        #expect(storage.damage == nil)
        try await storage.checkWriting()
        let error = await refusal { try await storage.checkPages() }
        #expect(error?.code == "storage.corrupt" && error == storage.damage, "\(error?.message ?? "none")")
        #expect(error?.message.contains(folder.file("hub.db")) == true && error?.hint?.contains("pushhost hub restore") == true)
        try await storage.restore(from: folder.file("backup.db"))
        #expect(storage.damage == nil)
        try await storage.checkPages()
        #expect(try await storage.namespace.store(ofHub: 1).load().registrations.count == 500)
        try await storage.close()
    }

    @Test func `The check finds rows that are missing from an index, as the doctor does`() async throws {
        let bench = try await Bench()
        let (folder, path) = (bench.folder, bench.folder.file("hub.db"))
        try await bench.storage.namespace.putHub(Samples.hub(1))
        let page = try #require(try await bench.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'hub_by_name'"))
        try await bench.storage.close()
        let older = try folder.bytes(of: "hub.db")
        let whole = try await SQLiteStorage.open(path)
        try await whole.namespace.putHub(Samples.hub(2))
        try await whole.checkPages()
        try await whole.close()
        // One page is older than the others, as in an older copy of the file beside a newer log.
        var bytes = try folder.bytes(of: "hub.db")
        let range = (page - 1) * 4096..<page * 4096
        bytes.replaceSubrange(range, with: older[range])
        try folder.write(bytes, to: "hub.db")
        let storage = try await SQLiteStorage.open(path)
        let error = await refusal { try await storage.checkPages() }
        #expect(error?.code == "storage.corrupt" && error == storage.damage, "\(error?.message ?? "none")")
        #expect(error?.message.contains("hub_by_name") == true, "\(error?.message ?? "none")")
        try await storage.close()
        #expect(await refusal { try await SQLiteStorage.inspect(path) } == error)
    }

    @Test func `A damaged page found by a request is recorded`() async throws {
        let (folder, storage) = try await damaged("plan")
        #expect(storage.damage == nil)
        let error = await refusal { _ = try await storage.database.read { try $0.first("SELECT content FROM plan") { $0.text(0) } } }
        #expect(error?.code == "storage.corrupt" && storage.damage == error, "\(error?.message ?? "none")")
        // Other errors do not count as damage.
        try await storage.restore(from: folder.file("backup.db"))
        _ = await refusal { _ = try await storage.database.read { try $0.first("SELECT nothing") { $0.integer(0) } } }
        #expect(storage.damage == nil)
        try await storage.close()
    }

    @Test func `A cancelled check ends and reports nothing`() async throws {
        let (folder, storage) = try await damaged("plan")
        let path = folder.file("hub.db")
        let check = PageCheck(path: path)
        check.cancel()
        #expect(try check.run() == nil)
        #expect(try PageCheck(path: path).run() != nil)
        try await storage.close()
    }
}
