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
}
