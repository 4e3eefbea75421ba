import Bindings
import PushModel

/// The result of `pushhost check`: its last line, the document `pushhost.check/1` and the exit code.
struct CheckReport {
    static let schema = "pushhost.check/1"

    let target: CheckedTarget
    var files: [CheckedFile] = []

    private var errors: Int { files.reduce(0) { $0 + $1.errorCount } }
    private var warnings: Int { files.reduce(0) { $0 + $1.warningCount } }

    var status: Int32 {
        let isUnreadable = files.contains { ["script.not_found", "script.unreadable"].contains($0.failure?.code) }
        return isUnreadable ? ExitStatus.usage : errors > 0 ? ExitStatus.script : ExitStatus.pass
    }

    /// `OK  7 files · no findings`, `FAIL  2 of 7 files · 3 errors · 1 warning`.
    func verdict(_ palette: Palette) -> String {
        let counts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }.map { Self.count($0, $1) }
        let found = counts.isEmpty ? "no findings" : counts.joined(separator: " · ")
        let all = Self.count(files.count, "file")
        guard errors > 0 else { return "\(palette.green("OK"))  \(all) · \(found)" }
        let concerned = files.count { $0.errorCount + $0.warningCount > 0 }
        return "\(palette.red("FAIL"))  \(concerned) of \(all) · \(found)"
    }

    var document: JSON {
        [
            "schema": .string(Self.schema), "verdict": errors > 0 ? "fail" : "ok", "exit_code": .integer(Int64(status)),
            "target": .string(target.rawValue), "files": .array(files.map { .string($0.path) }), "errors": .integer(Int64(errors)),
            "warnings": .integer(Int64(warnings)), "findings": .array(files.flatMap(\.documents)),
        ]
    }

    /// The document for a check that could not start, for example because there are no files to check.
    static func refusal(_ error: PushError) -> JSON {
        [
            "schema": .string(schema), "verdict": "error", "exit_code": .integer(Int64(ExitStatus.usage)), "files": .array([]),
            "findings": .array([]),
            "error": ["code": .string(error.code), "message": .string(error.message), "hint": error.hint.map(JSON.string) ?? .null],
        ]
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

extension CheckedFile {
    fileprivate var documents: [JSON] {
        if let failure {
            return [
                [
                    "file": .string(path), "line": .null, "column": .null, "end_line": .null, "end_column": .null,
                    "code": .string(failure.code),
                    "severity": "error", "message": .string(failure.message), "hint": failure.hint.map(JSON.string) ?? .null,
                ]
            ]
        }
        return findings.map { finding in
            [
                "file": .string(path), "line": .integer(Int64(finding.line)), "column": .integer(Int64(finding.column)),
                "end_line": .integer(Int64(finding.endLine)), "end_column": .integer(Int64(finding.endColumn)),
                "code": .string(finding.code),
                "severity": .string(finding.severity.rawValue), "message": .string(finding.message),
                "hint": finding.hint.map(JSON.string) ?? .null,
            ]
        }
    }
}
