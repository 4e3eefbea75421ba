import Bindings
import Lua
import LuaSyntax
import PushRuntime

/// Renders an error for people: the message, the location with a source excerpt and a caret, the help, and the run.
struct Diagnostic {
    let error: LuaError
    /// The script's source, for the excerpt; empty if it could not be read.
    let source: SourceText
    let scriptName: String
    let palette: Palette
    private let isWarning: Bool
    /// The column of the error, from 1. If nil, it is searched for in the source.
    private let column: Int?
    /// Source ranges that excerpts must mask.
    private let secrets: [Range<SourcePosition>]

    init(_ error: LuaError, source: [UInt8], scriptName: String, palette: Palette) {
        var column: Int?
        if error.kind == .syntax, case .table(let table) = error.details, case .integer(let position)? = table.fields["column"] {
            column = Int(position)
        }
        self.error = error
        let text = SourceText(source)
        self.source = text
        self.scriptName = scriptName
        self.palette = palette
        self.column = column
        secrets = error.location == nil ? [] : SecretSpans.spans(in: text)
        isWarning = false
    }

    /// Renders a finding of `pushhost check`. `secrets` are source ranges that the excerpt masks.
    init(_ finding: Finding, source: SourceText, secrets: [Range<SourcePosition>], palette: Palette) {
        var error = LuaError(kind: .misuse, code: finding.code, message: finding.message, hint: finding.hint)
        error.location = SourceLocation(chunk: finding.script, line: finding.line)
        self.error = error
        self.source = source
        self.palette = palette
        self.secrets = secrets
        scriptName = finding.script
        column = finding.column
        isWarning = finding.severity == .warning
    }

    var lines: [String] { text + reference }

    /// The lines without the last one, which names the page of the error and the run.
    var text: [String] {
        let word = "\(isWarning ? "warning" : "error")[\(error.code.printable)]"
        let message = error.message.split(separator: "\n", omittingEmptySubsequences: false).map { $0.description.printable }
        var lines = ["\(isWarning ? palette.yellow(word) : palette.red(word)): \(message.first ?? "")"]
        lines += message.dropFirst().map { "  \($0)" }
        if error.code.hasPrefix("usage.") {
            // The error is in the command line, so a line of the script would mislead.
        } else if let position {
            lines.append("  \(scriptName.printable):\(position.line):\(position.column)")
            lines += excerpt(position)
        } else if let location = error.location {
            lines.append("  \(location.description.printable)")
        }
        lines += pointer
        if let expected = detail("expected"), let actual = detail("actual"), expected.count + actual.count > 80, !hasDifferences {
            lines.append("  \("expected".padded(to: 10))\(expected.printable)")
            lines.append("  \("actual".padded(to: 10))\(actual.printable)")
        }
        if let hint = error.hint { lines.append("  \("help".padded(to: 10))\(hint.printable)") }
        let callers = error.traceback.dropFirst().filter { $0.chunk == scriptName && $0.line != position?.line }.prefix(4)
        if !callers.isEmpty {
            lines.append("  \("called at".padded(to: 10))\(callers.map { "line \($0.line)" }.joined(separator: ", "))")
        }
        return lines
    }

    /// The last line: the command that explains the error, and the run id.
    private var reference: [String] {
        let page = ErrorCatalogue.entry(error.code).map { "pushhost explain \($0.code)" }
        var run: String?
        if !error.code.hasPrefix("usage."), let id = error.annotations["run"], let script = error.annotations["script"] {
            run = "\(id) · script \(script)"
        }
        switch (page, run) {
        case (let page?, let run?): return [palette.dim("  \("more".padded(to: 10))\(page.padded(to: 44))  run \(run)")]
        case (let page?, nil): return [palette.dim("  \("more".padded(to: 10))\(page)")]
        case (nil, let run?): return [palette.dim("  \("run".padded(to: 10))\(run)")]
        case (nil, nil): return []
        }
    }

    /// The text of a tag expression or template, with a caret under the error.
    private var pointer: [String] {
        guard let text = detail("excerpt"), case .table(let table) = error.details,
            case .integer(let position)? = table.fields["position"], position >= 1, position <= text.count + 1
        else { return [] }
        let start = position > 60 ? Int(position) - 40 : 1
        let window = String(text.dropFirst(start - 1).prefix(100))
        let gap = String(window.prefix(Int(position) - start)).printable.count
        let margin = String(repeating: " ", count: 12)
        return ["\(margin)\(window.printable)", "\(margin)\(String(repeating: " ", count: gap))\(palette.red("^"))"]
    }

    /// Line and column of the error, from 1.
    var position: (line: Int, column: Int)? {
        guard let location = error.location, location.chunk == scriptName, location.line >= 1,
            location.line <= source.lineCount
        else { return nil }
        if let column { return (location.line, column) }
        if let key = detail("key"), let found = find(key, from: location.line, isValue: isValueAtFault(key)) { return found }
        let line = source.line(location.line)
        let indent = line.prefix { $0 == " " || $0 == "\t" }.count
        return (location.line, indent + 1)
    }

    private func detail(_ name: String) -> String? {
        guard case .table(let table) = error.details, case .string(let text)? = table.fields[name] else { return nil }
        return text
    }

    /// Whether the message already lists the differences between two tables.
    private var hasDifferences: Bool {
        if case .table(let table) = error.details { table.fields["differences"] != nil } else { false }
    }

    /// Whether the error is in the key's value, not in the key. A platform that is not known may be a key itself, as in `payload`.
    private func isValueAtFault(_ key: String) -> Bool {
        ["args.wrong_type", "args.platform", "args.duration", "args.time", "args.empty"].contains(error.code) && detail("name") != key
    }

    /// Finds a name: `key =` in the table of the call, or `.name` in its first line. Nil if it occurs more than once.
    private func find(_ key: String, from line: Int, isValue: Bool) -> (line: Int, column: Int)? {
        var lexer = Lexer(source, at: source.start(ofLine: line))
        var previous: String?
        var pending: SourcePosition?
        var isBeforeValue = false
        var depth = 0
        var found: [SourcePosition] = []
        while let token = try? lexer.next(), token.kind != .end {
            let position = source.position(at: token.range.lowerBound)
            if position.line > line + 40 || (depth <= 0 && position.line > line) { break }
            let text = source[token.range]
            if isBeforeValue { found.append(position) }
            isBeforeValue = pending != nil && text == "=" && isValue
            if let pending, text == "=", !isValue { found.append(pending) }
            let isKey = token.kind == .name(key)
            pending = isKey ? position : nil
            if isKey, previous == "." || previous == ":", position.line == line { found.append(position) }
            switch text {
            case "(", "{", "[": depth += 1
            case ")", "}", "]": depth -= 1
            default: break
            }
            previous = text
        }
        return found.count == 1 ? found.first.map { ($0.line, $0.column) } : nil
    }

    private func excerpt(_ position: (line: Int, column: Int)) -> [String] {
        let (full, column) = masked(position)
        // Of a long line only the part around the caret is shown.
        let start = column > 100 ? column - 40 : 1
        let text = String(full.dropFirst(start - 1).prefix(140))
        let number = String(position.line)
        let margin = String(repeating: " ", count: number.count)
        let gap = String(repeating: " ", count: String(text.prefix(column - start)).printable.count)
        return ["   \(number) | \(text.printable)", "   \(margin) | \(gap)\(palette.red("^"))"]
    }

    /// The line with each secret replaced by `***`, and the column after the replacement.
    private func masked(_ position: (line: Int, column: Int)) -> (text: String, column: Int) {
        var text = Array(source.line(position.line))
        var column = position.column
        for secret in secrets.reversed() where (secret.lowerBound.line...secret.upperBound.line).contains(position.line) {
            let start = min(secret.lowerBound.line == position.line ? secret.lowerBound.column - 1 : 0, text.count)
            let end = max(start, min(secret.upperBound.line == position.line ? secret.upperBound.column - 1 : text.count, text.count))
            text.replaceSubrange(start..<end, with: "***")
            if column > end { column += 3 - (end - start) } else if column > start { column = start + 1 }
        }
        if SecretSpans.isCredential(String(text)) { return ("***", 1) }
        return (String(text), column)
    }
}
