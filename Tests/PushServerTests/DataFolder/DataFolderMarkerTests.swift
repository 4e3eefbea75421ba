import Foundation
import PushModel
import Storage
import Support
import Testing

@testable import PushServer

/// Data folders without `identity.json`: new ones, and those of a server.
@Suite struct DataFolderMarkerTests {
    private let folder: ScriptFolder
    private var data: String { folder.url.appending(path: "data").path }

    init() throws { folder = try ScriptFolder() }

    /// Starts as a server does. Returns the warnings.
    private func start() async throws -> [String] {
        let locked = try DataFolder(path: data)
        defer { locked.release() }
        let database = try await FolderDatabase.preparing(locked)
        let keyFile = PayloadKeyFile(folder: data)
        let seal = PayloadKeyFile.seal(of: try keyFile.key())
        var warnings: [String] = []
        let session = try await database.open(keyFile, seal: seal) { warnings.append($0) }
        try await session.close()
        return warnings
    }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(data)/\(name)") }

    @Test(arguments: ["lock", "database-open", "pushhost.sqlite"])
    func `Each file that only a server leaves shows that the folder was used, wherever the key is`(sign: String) async throws {
        try folder.write("data/\(sign)", Data())
        // As the doctor command examines it.
        let mark = try DataFolderMarker(folder: data).read().database
        #expect(mark.isUsed && mark.signs == ["\(data)/\(sign)"])
        let found = await refusal { try await DatabaseExamination(of: "\(data)/pushhost.sqlite", mark) }
        #expect(found?.code == "storage.damaged" && found?.hint?.hasSuffix("remove \(data)/\(sign)") == true, "\(found?.hint ?? "none")")
        // As a server does.
        let locked = try DataFolder(path: data)
        for _ in 0..<2 {
            let error = await refusal { try await FolderDatabase.preparing(locked) }
            #expect(error?.code == "storage.damaged" && error?.message == found?.message, "\(error?.message ?? "none")")
        }
        #expect(!exists("identity.json"))
        locked.release()
    }

    @Test func `A folder with files of the operator is new`() async throws {
        try folder.write("data/payload.key", Data(count: 32))
        try folder.write("data/notes.txt", Data())
        let locked = try DataFolder(path: data)
        #expect(try await FolderDatabase.preparing(locked).isNew)
        #expect(exists("identity.json"))
        locked.release()
    }

    @Test func `A new folder gets its mark before its lock, so that an interrupted start can be repeated`() async throws {
        // The mark cannot be written.
        try folder.write("data/.identity.json/file", Data())
        let error = await refusal { try DataFolder(path: data) }
        #expect(error?.code == "data.unusable" && error?.message.contains("identity.json") == true, "\(error?.message ?? "none")")
        #expect(!exists("lock") && !exists("identity.json"))
        try FileManager.default.removeItem(atPath: "\(data)/.identity.json")
        // A start that was killed after the mark.
        try DataFolderMarker(folder: data).write(DataFolderMarker.Record())
        let locked = try DataFolder(path: data)
        #expect(try await FolderDatabase.preparing(locked).isNew)
        locked.release()
    }

    @Test func `A start with a key but no database warns once that the database may be lost`() async throws {
        #expect(try await start() == [])
        // Everything but the key is lost.
        for name in try FileManager.default.contentsOfDirectory(atPath: data) where name != "payload.key" {
            try FileManager.default.removeItem(atPath: "\(data)/\(name)")
        }
        let warnings = try await start()
        #expect(
            warnings == [
                "the data folder \(data) has a payload key, \(data)/payload.key, but no database; a new database was created, and uses this "
                    + "key; if it had one, restore a backup with pushhost hub restore FILE"
            ])
        #expect(try await start() == [])
    }

    @Test func `A first start that was interrupted after it created the key does not count as a loss`() async throws {
        let locked = try DataFolder(path: data)
        _ = try await FolderDatabase.preparing(locked)
        _ = try PayloadKeyFile(folder: data).key()
        locked.release()
        #expect(!exists("pushhost.sqlite"))
        #expect(try await start() == [])
    }

    @Test func `A key outside of the folder does not count as that of a lost database`() async throws {
        try folder.write("data/payload.key", Data(count: 32))
        try folder.write("elsewhere.key", Data(count: 32))
        let outside = PayloadKeyFile(folder: data, named: folder.url.appending(path: "elsewhere.key").path)
        #expect(outside.finding(.absent, DatabaseMark()) == nil)
        #expect(PayloadKeyFile(folder: data).finding(.absent, DatabaseMark()) != nil)
        #expect(PayloadKeyFile(folder: data).finding(.present(nil), DatabaseMark()) == nil)
    }
}
