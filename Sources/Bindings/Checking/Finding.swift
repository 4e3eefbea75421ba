import Lua
package import LuaSyntax

/// A problem that `pushhost check` reports in a script.
package struct Finding: Sendable, Equatable {
    package enum Severity: String, Sendable { case error, warning }

    package var script: String
    package var code: String
    package var severity: Severity
    package var message: String
    package var hint: String?
    /// From 1.
    package var line: Int
    /// In characters, from 1.
    package var column: Int
    package var endLine: Int
    /// The column after the last character; equal to the beginning where something is missing.
    package var endColumn: Int

    package var span: Range<SourcePosition> {
        SourcePosition(line: line, column: column)..<SourcePosition(line: endLine, column: endColumn)
    }

    init(_ remark: SourceFinding, in text: SourceText, script: String) {
        self.script = script
        code = remark.code
        severity = remark.severity
        message = remark.message
        hint = remark.hint
        let begin = text.position(at: remark.range.lowerBound)
        let end = text.position(at: remark.range.upperBound)
        line = begin.line
        column = begin.column
        endLine = end.line
        endColumn = end.column
    }
}

/// A finding before its offsets are converted to lines and columns.
struct SourceFinding {
    var code: String
    var severity = Finding.Severity.error
    var message: String
    var hint: String?
    var range: Range<Int>

    init(_ code: String, _ message: String, hint: String? = nil, severity: Finding.Severity = .error, at range: Range<Int>) {
        self.code = code
        self.severity = severity
        self.message = message
        self.hint = hint
        self.range = range
    }

    init(_ error: LuaError, severity: Finding.Severity = .error, at range: Range<Int>) {
        self.init(error.code, error.message, hint: error.hint, severity: severity, at: range)
    }

    init(_ error: SyntaxError) {
        self.init("script.syntax", error.message, hint: error.hint, at: error.range)
    }
}
