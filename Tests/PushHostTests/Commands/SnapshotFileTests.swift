import Bindings
import Lua
import PushModel
import Testing

@testable import PushHost

/// Files of snapshots: their form, and which entries are used.
@Suite struct SnapshotFileTests {
    private func file(_ texts: [String: String]) -> SnapshotFile {
        var file = SnapshotFile(of: "specs/a_spec.lua")
        var content = ""
        for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
            content += "== \(key)\n" + text.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)\n" }.joined()
        }
        file.parse(content)
        return file
    }

    /// A spec with tests of which those in `passed` and `failed` ran and compared these texts.
    private func spec(
        passed: [String: [String: String]] = [:], failed: [String: [String: String]] = [:], others: [String] = []
    ) -> TestFile {
        var file = TestFile(script: FlowScript(name: "specs/a_spec.lua", source: [], version: "000000"))
        func record(_ name: String, _ status: TestRecord.Status, _ snapshots: [String: String]) -> TestRecord {
            var record = TestRecord(test: TestCase(groups: [], name: name, location: nil, isPending: false))
            record.status = status
            record.snapshots = snapshots
            return record
        }
        file.records = passed.map { record($0.key, .passed, $0.value) } + failed.map { record($0.key, .failed, $0.value) }
        file.declaredNames = Set(Array(passed.keys) + Array(failed.keys) + others)
        return file
    }

    @Test func `a file is beside its spec`() {
        #expect(SnapshotFile(of: "specs/a_spec.lua").path == "specs/a_spec.snap")
        #expect(SnapshotFile(of: "a").path == "a.snap")
    }

    @Test(arguments: ["", "one line", "two\nlines", "ends with a break\n", "\n", "  indented\n== a › 2\n# b", "é\r\ttab"])
    func `a text is read as it was written`(text: String) {
        let written = file(["a › 1": text, "b › 1": "other"])
        #expect(written.texts == ["a › 1": text, "b › 1": "other"])
        var read = SnapshotFile(of: "specs/a_spec.lua")
        read.parse(written.content)
        #expect(read == written)
    }

    @Test func `the content is sorted by key`() {
        #expect(
            file(["b › 1": "two\nlines", "a › x": "{ 1 }"]).content
                == "# Written by pushhost test --update.\n\n== a › x\n  { 1 }\n\n== b › 1\n  two\n  lines\n")
    }

    @Test func `a snapshot is unused if its test passed without it, or does not exist`() {
        let stored = file(["a › 1": "x", "a › 2": "x", "b › 1": "x", "c › 1": "x", "gone › 1": "x"])
        let after = spec(passed: ["a": ["a › 1": "y"]], failed: ["b": [:]], others: ["c"])
        #expect(stored.unused(after: after) == ["a › 2", "gone › 1"])
        var broken = after
        broken.failure = LuaError(kind: .syntax, code: "script.syntax", message: "no")
        #expect(stored.unused(after: broken) == [])
    }

    @Test func `an update takes the values of tests that passed, and keeps those of others`() {
        var stored = file(["a › 1": "old", "a › 2": "old", "b › 1": "old", "c › 1": "old"])
        stored.update(after: spec(passed: ["a": ["a › 1": "new", "a › 3": "new"]], failed: ["b": ["b › 1": "new"]], others: ["c"]))
        #expect(stored.texts == ["a › 1": "new", "a › 3": "new", "b › 1": "old", "c › 1": "old"])
    }
}
