import Bindings
import Lua
import PushRuntime

/// Writes test results in the Test Anything Protocol, version 14 (testanything.org).
struct TAPReport {
    let lines: [String]

    init(_ files: [TestFile], _ summary: TestSummary, slowest: [SlowTest] = []) {
        var lines = ["TAP version 14"]
        var number = 0
        func point(_ isOK: Bool, _ name: String, directive: String = "", failures: [LuaError] = []) {
            number += 1
            lines.append("\(isOK ? "ok" : "not ok") \(number) - \(Self.escaped(name))\(directive)")
            guard !failures.isEmpty else { return }
            lines.append("  ---")
            lines.append("  failures:")
            for failure in failures {
                lines.append("    - code: \(Self.quoted(failure.code))")
                lines.append("      message: \(Self.quoted(failure.message))")
                if let location = failure.location { lines.append("      at: \(Self.quoted("\(location)"))") }
                if let hint = failure.hint { lines.append("      hint: \(Self.quoted(hint))") }
            }
            lines.append("  ...")
        }
        for file in files {
            if let failure = file.failure { point(false, file.script.name, failures: [failure]) }
            for record in file.records {
                let name = "\(file.script.name) › \(record.test.fullName)"
                point(
                    record.status != .failed, name, directive: record.status == .pending ? " # SKIP pending" : "",
                    failures: record.failures)
            }
        }
        lines.append("1..\(number)")
        for snapshot in summary.unusedSnapshots { lines.append("# unused snapshot: \(Self.escaped(snapshot))") }
        if let order = summary.order { lines.append("# random order: --randomize \(order) repeats it") }
        for test in slowest { lines.append("# slow: \(test.seconds) s \(Self.escaped("\(test.spec) › \(test.name)"))") }
        if summary.wasStopped { lines.append("Bail out! stopped at the first failure") }
        if summary.wasInterrupted { lines.append("Bail out! interrupted") }
        self.lines = lines
    }

    /// Escapes `#` and `\`, which are special in a description.
    private static func escaped(_ text: String) -> String {
        text.printable.replacing("\\", with: "\\\\").replacing("#", with: "\\#")
    }

    /// The text as a double-quoted YAML scalar.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\u{0}"..<" ", "\u{7f}"..."\u{9f}":
                let hex = String(scalar.value, radix: 16)
                quoted += "\\x\(hex.count == 1 ? "0" : "")\(hex)"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return "\(quoted)\""
    }
}
