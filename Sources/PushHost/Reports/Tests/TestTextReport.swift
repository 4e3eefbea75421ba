import Bindings
import Lua
import PushModel
import PushRuntime
import Synchronization

/// Prints test results as text when each test ends.
final class TestTextReport: Sendable {
    private let output: Output
    private let palette: Palette
    /// The groups of the last printed test, whose names need not be repeated.
    private let groups = Mutex<[String]>([])

    init(output: Output) {
        self.output = output
        palette = Palette(isOn: output.hasColour)
    }

    func begin(_ script: FlowScript) {
        output.line(palette.bold(script.name.printable))
        groups.withLock { $0 = [] }
    }

    func take(_ record: TestRecord, of script: FlowScript) {
        announce(record.test.groups)
        let depth = record.test.groups.count
        let indent = String(repeating: "  ", count: depth + 1)
        let glyph =
            switch record.status {
            case .passed: palette.green("✓")
            case .failed: palette.red("✗")
            case .pending: palette.yellow("–")
            }
        let note =
            record.status == .pending
            ? palette.dim("  pending") : record.cases.map { palette.dim("  \($0) case\($0 == 1 ? "" : "s")") } ?? ""
        output.line("\(indent)\(glyph) \(record.test.name.printable)\(note)")
        for line in record.failures.flatMap({ diagnosis($0, script) }) { output.line("\(indent)    \(line)") }
        defer { output.flush() }
        guard record.status == .failed else { return }
        for line in record.log.suffix(20).flatMap({ $0.split(separator: "\n", omittingEmptySubsequences: false) }) {
            output.line("\(indent)    \(palette.dim("│")) \(line.description.printable)")
        }
    }

    /// Prints the error that prevented a file from being run.
    func take(_ failure: LuaError?, of script: FlowScript) {
        guard let failure else { return }
        output.line(palette.bold(script.name.printable))
        for line in diagnosis(failure, script) { output.line("  \(line)") }
    }

    /// Prints a note about the choice of tests.
    func note(_ text: String) { output.line(palette.dim(text)) }

    func finish(_ summary: TestSummary, slowest: [SlowTest] = []) {
        for line in slowest.isEmpty ? [] : SlowTest.table(slowest).lines(palette) { output.line(line) }
        for file in summary.writtenSnapshots { note("wrote \(file.printable)") }
        for snapshot in summary.unusedSnapshots { note("unused snapshot: \(snapshot.printable)") }
        if !summary.unusedSnapshots.isEmpty { note("pushhost test --update removes unused snapshots") }
        if let order = summary.order { note("random order: --randomize \(order) repeats it") }
        var parts = ["\(summary.files) spec\(summary.files == 1 ? "" : "s")"]
        parts.append("\(summary.ran) test\(summary.ran == 1 ? "" : "s")")
        if summary.failed > 0 { parts.append("\(summary.failed) failed") }
        if summary.pending > 0 { parts.append("\(summary.pending) pending") }
        if summary.broken > 0 { parts.append("\(summary.broken) spec\(summary.broken == 1 ? "" : "s") could not be run") }
        if summary.wasStopped { parts.append("stopped at the first failure") }
        if summary.isUnwritten { parts.append("results not written") }
        parts.append("\(summary.expectations) expectation\(summary.expectations == 1 ? "" : "s")")
        parts.append("virtual \(summary.duration.short)")
        let word =
            switch summary.word {
            case "PASS": palette.green("PASS")
            case "FAIL": palette.red("FAIL")
            default: palette.yellow(summary.word)
            }
        output.line("\(word)  \(parts.joined(separator: " · "))")
    }

    private func announce(_ names: [String]) {
        let from = groups.withLock { groups in
            defer { groups = names }
            return zip(groups, names).prefix { $0 == $1 }.count
        }
        for (depth, name) in names.enumerated().dropFirst(from) {
            output.line("\(String(repeating: "  ", count: depth + 1))\(name.printable)")
        }
    }

    private func diagnosis(_ error: LuaError, _ script: FlowScript) -> [String] {
        Diagnostic(error, source: script.source, scriptName: script.name, palette: palette).lines
    }
}
