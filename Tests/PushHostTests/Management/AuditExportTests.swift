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

    @Test func `a directory is reported as one, and an empty file as empty`() throws {
        let folder = try ScriptFolder(["empty.jsonl": ""])
        let path = folder.url.path
        let error = try #require(refusal(path))
        #expect(error.code == "audit.file" && error.message == "\(path) is a directory", "\(error)")
        #expect(refusal("\(path)/empty.jsonl")?.message == "\(path)/empty.jsonl is empty")
        #expect(refusal("\(path)/empty.jsonl/x")?.message == "\(path)/empty.jsonl/x cannot be read: Not a directory")
    }
}
