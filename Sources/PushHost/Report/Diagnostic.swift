import Bindings
import Lua

/// An error as people read it: what, where with the source line and a caret, what to do, which run.
struct Diagnostic {
    let error: LuaError
    /// The script's lines, for the excerpt; empty when it could not be read.
    let source: [String]
    let scriptName: String
    let palette: Palette

    init(_ error: LuaError, source: [UInt8], scriptName: String, palette: Palette) {
        self.error = error
        self.source = source.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
        self.scriptName = scriptName
        self.palette = palette
    }

    var lines: [String] {
        var lines = ["\(palette.red("error[\(error.code.printable)]")): \(error.message.printable)"]
        if error.code.hasPrefix("usage.") {
            // The command line is at fault: the script's line would mislead.
        } else if let place {
            lines.append("  \(scriptName.printable):\(place.line):\(place.column)")
            lines += excerpt(place)
        } else if let location = error.location {
            lines.append("  \(location.description.printable)")
        }
        lines += pointer
        if let expected = detail("expected"), let actual = detail("actual"), expected.count + actual.count > 80 {
            lines.append("  \("expected".padded(to: 10))\(expected.printable)")
            lines.append("  \("actual".padded(to: 10))\(actual.printable)")
        }
        if let hint = error.hint { lines.append("  \("help".padded(to: 10))\(hint.printable)") }
        let callers = error.traceback.dropFirst().filter { $0.chunk == scriptName && $0.line != place?.line }.prefix(4)
        if !callers.isEmpty {
            lines.append("  \("called at".padded(to: 10))\(callers.map { "line \($0.line)" }.joined(separator: ", "))")
        }
        return lines + reference
    }

    /// The last line: where to read more, and the run to quote.
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

    /// The text of a small language (a tag expression, a template) with a caret under the fault.
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

    /// Line and column, counted from 1.
    var place: (line: Int, column: Int)? {
        guard let location = error.location, location.chunk == scriptName, location.line >= 1,
            location.line <= source.count
        else { return nil }
        if let key = detail("key"), let found = find(key, from: location.line) { return found }
        let line = source[location.line - 1]
        let indent = line.prefix { $0 == " " || $0 == "\t" }.count
        return (location.line, indent + 1)
    }

    private func detail(_ name: String) -> String? {
        guard case .table(let table) = error.details, case .string(let text)? = table.fields[name] else { return nil }
        return text
    }

    /// Where a name is written: `key =` in the table of the call, or `.name` in its first line.
    private func find(_ key: String, from line: Int) -> (line: Int, column: Int)? {
        var scanner = SourceScanner(lines: source[(line - 1)..<min(line + 40, source.count)])
        var previous: String?
        var pending: (line: Int, column: Int)?
        var depth = 0
        while let token = scanner.next() {
            let place = (line: line + token.line, column: token.column)
            if let pending, token.text == "=" { return pending }
            pending = token.text == key ? place : nil
            if token.text == key, previous == "." || previous == ":", token.line == 0 { return place }
            switch token.text {
            case "(", "{", "[": depth += 1
            case ")", "}", "]": depth -= 1
            default: break
            }
            if depth <= 0, token.line > 0 { return nil }
            previous = token.text
        }
        return nil
    }

    private func excerpt(_ place: (line: Int, column: Int)) -> [String] {
        let full = String(source[place.line - 1])
        // A line that fills the screen many times over is shown around its caret.
        let start = place.column > 100 ? place.column - 40 : 1
        let text = String(full.dropFirst(start - 1).prefix(140))
        let number = String(place.line)
        let margin = String(repeating: " ", count: number.count)
        let gap = String(repeating: " ", count: String(text.prefix(place.column - start)).printable.count)
        return ["   \(number) | \(text.printable)", "   \(margin) | \(gap)\(palette.red("^"))"]
    }
}
