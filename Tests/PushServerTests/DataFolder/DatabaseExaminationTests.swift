import Foundation
import PushModel
import Storage
import Support
import Testing

@testable import PushServer

/// The database of a folder that a server uses, as another process sees it.
@Suite struct DatabaseExaminationTests {
    @Test func `The log of a database must be there as long as the folder is marked as open`() async throws {
        let folder = try ScriptFolder()
        let data = folder.url.appending(path: "data").path
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let path = "\(data)/pushhost.sqlite"
        let mark = OpenMark(folder: data)
        let session = DatabaseSession(
            try await SQLiteStorage.open(path, seal: PayloadKeyFile.seal(of: try PayloadKeyFile(folder: data).key())), mark, hadLog: false)
        try await session.serve()
        try await DatabaseExamination.checkServed(path, in: data)
        // As an operator removes it. A server that stops removes its mark first.
        try FileManager.default.removeItem(atPath: "\(path)-wal")
        let error = await refusal { try await DatabaseExamination.checkServed(path, in: data) }
        #expect(error?.code == "storage.unavailable", "\(error?.message ?? "none")")
        #expect(error?.message.contains("\(path)-wal was removed or replaced") == true, "\(error?.message ?? "none")")
        mark.remove()
        try await DatabaseExamination.checkServed(path, in: data)
        try await session.close()
    }
}
