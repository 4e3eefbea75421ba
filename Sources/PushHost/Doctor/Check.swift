import PushModel
import PushRuntime

/// The result of one check of `pushhost doctor`.
struct Check: Sendable {
    /// What was checked, such as `certificate`.
    let name: String
    let isWell: Bool
    /// Whether the check passes, but will fail soon, or may show a loss.
    var isWarning = false
    /// What was found.
    let finding: String
    /// What to do about it.
    let hint: String?

    static func well(_ name: String, _ finding: String) -> Check { Check(name: name, isWell: true, finding: finding, hint: nil) }

    static func soon(_ name: String, _ finding: String, _ hint: String?) -> Check {
        Check(name: name, isWell: true, isWarning: true, finding: finding, hint: hint)
    }

    static func wrong(_ name: String, _ finding: String, _ hint: String?) -> Check {
        Check(name: name, isWell: false, finding: finding, hint: hint)
    }

    static func wrong(_ name: String, _ error: PushError) -> Check { wrong(name, error.message, error.hint) }

    func lines(_ palette: Palette) -> [String] {
        let mark = isWarning ? palette.yellow("!") : isWell ? palette.green("✓") : palette.red("✗")
        return ["\(mark) \(name.padded(to: 14))\(finding.printable)"] + (hint.map { ["    help        \($0.printable)"] } ?? [])
    }

    var json: JSON {
        [
            "name": .string(name), "ok": .bool(isWell), "warning": .bool(isWarning), "finding": .string(finding),
            "hint": hint.map(JSON.string) ?? .null,
        ]
    }
}
