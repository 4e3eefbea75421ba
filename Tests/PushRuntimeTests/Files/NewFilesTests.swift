import Foundation
import PushModel
import Support
import Testing

@testable import PushRuntime

/// What a failure of ``NewFiles`` says about the files before it.
@Suite struct NewFilesTests {
    private func refusal(_ folder: String, _ paths: String...) -> PushError? {
        let files = paths.map { NewFiles.File(path: $0, text: "text", purpose: "a file") }
        return #expect(throws: PushError.self) { try NewFiles(folder: folder, files: files, hint: "name another folder").write() }
    }

    @Test func `if the first folder cannot be created, the message says that nothing was written`() throws {
        let folder = try ScriptFolder(["file.txt": "mine"])
        let path = "\(folder.url.path)/file.txt/project"
        let error = try #require(refusal(path, "README.md"))
        #expect(error.code == "init.failed")
        #expect(error.message == "\(path) could not be written: Not a directory; nothing was written")
    }

    @Test func `files written before the failure are removed, and the message says so`() throws {
        let folder = try ScriptFolder()
        let path = "\(folder.url.path)/project"
        // The first file is where the second one needs a folder.
        let error = try #require(refusal(path, "a", "a/b"))
        #expect(error.code == "init.failed")
        #expect(error.message == "\(path)/a/b could not be written: Not a directory; all files written before were removed")
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
