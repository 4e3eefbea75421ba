import Bindings
import Lua
import PushModel

/// Test results as one JSON document, `pushhost.test/1`.
struct TestJSONReport {
    static let schema = "pushhost.test/1"

    let document: JSON

    /// The document for a test run that could not start.
    static func refusal(_ error: LuaError, exitCode: Int32) -> JSON {
        [
            "schema": .string(schema), "verdict": "error", "exit_code": .integer(Int64(exitCode)), "error": JSON(error),
        ]
    }

    init(_ files: [TestFile], _ summary: TestSummary, seed: UInt64, slowest: [SlowTest] = []) {
        document = [
            "schema": .string(Self.schema), "verdict": .string(summary.word.lowercased()),
            "exit_code": .integer(Int64(summary.status)), "seed": .string(String(seed)),
            "specs": .integer(Int64(summary.files)), "tests": .integer(Int64(summary.ran)),
            "passed": .integer(Int64(summary.passed)), "failed": .integer(Int64(summary.failed)),
            "pending": .integer(Int64(summary.pending)), "expectations": .integer(Int64(summary.expectations)),
            "order": summary.order.map { .string(String($0)) } ?? .null, "stopped": .bool(summary.wasStopped),
            "unused_snapshots": .array(summary.unusedSnapshots.map(JSON.string)),
            "files": .array(files.map(JSON.init)),
            "slowest": .array(
                slowest.map { ["file": .string($0.spec), "name": .string($0.name), "seconds": .number($0.realDuration / .seconds(1))] }),
        ]
    }
}

extension JSON {
    fileprivate init(_ file: TestFile) {
        self = [
            "file": .string(file.script.name), "script": .string(file.script.version),
            "error": file.failure.map(JSON.init) ?? .null, "tests": .array(file.records.map(JSON.init)),
        ]
    }

    fileprivate init(_ record: TestRecord) {
        self = [
            "name": .string(record.test.name), "groups": .array(record.test.groups.map(JSON.string)),
            "line": record.test.location.map { .integer(Int64($0.line)) } ?? .null, "status": .string(record.status.rawValue),
            "expectations": .integer(Int64(record.expectations)), "failures": .array(record.failures.map(JSON.init)),
            "log": .array(record.log.map(JSON.string)), "cases": record.cases.map { .integer(Int64($0)) } ?? .null,
        ]
    }
}
