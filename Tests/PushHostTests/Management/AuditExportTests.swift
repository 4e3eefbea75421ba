import Foundation
import PushModel
import Support
import Testing

@testable import PushHost

/// Verification of exported audit logs.
@Suite struct AuditExportTests {
    private func refusal(_ path: String) -> PushError? {
        #expect(throws: PushError.self) { try AuditExport.verify(path, against: nil) }
    }

    @Test func `a missing file is reported as by other commands`() throws {
        let folder = try ScriptFolder()
        let path = folder.url.appending(path: "nofile").path
        let error = try #require(refusal(path))
        #expect(error.code == "audit.file" && error.message == "\(path) does not exist", "\(error)")
    }

    @Test func `a folder cannot be read, and an empty file is reported as empty`() throws {
        let folder = try ScriptFolder(["empty.jsonl": ""])
        let error = try #require(refusal(folder.url.path))
        #expect(error.code == "audit.file" && error.message.hasPrefix("\(folder.url.path) cannot be read: "), "\(error)")
        let path = folder.url.appending(path: "empty.jsonl").path
        #expect(refusal(path)?.message == "\(path) is empty")
    }
}
