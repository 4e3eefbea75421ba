import ArgumentParser
import Bindings
import Glibc
import Lua
import PushModel

/// Reports an invalid command line: as text on standard error or, with --json, as an object on standard output.
struct UsageError {
    let arguments: [String]
    let error: PushError

    private static let management: Set<String> = [
        "hub", "key", "user", "plan", "send", "notification", "trace", "devices", "pruned", "apns", "plugin", "tags", "audit", "approvals",
        "doctor", "status", "version",
        "flows", "runs", "schedule",
    ]

    private var words: ArraySlice<String> { arguments.prefix { $0 != "--" } }

    /// Only commands with a JSON result have a JSON error.
    var isJSON: Bool { words.contains("--json") && document != nil }

    private var document: JSON? {
        let error = LuaError(error)
        switch arguments.first {
        case "run":
            let file = words.dropFirst().first { $0.hasSuffix(".lua") } ?? ""
            return JSONReport.refusal(error, file: file, exitCode: ExitStatus.usage)
        case "test": return TestJSONReport.refusal(error, exitCode: ExitStatus.usage)
        case "check": return CheckReport.refusal(self.error)
        case let command? where Self.management.contains(command):
            return ManagementSession.refusal(self.error, exitCode: ExitStatus.usage)
        default: return nil
        }
    }

    /// Prints the error and ends the program.
    func printAndExit() -> Never {
        if isJSON, let document {
            Output(descriptor: STDOUT_FILENO).fail(document.text(pretty: true))
        }
        let errors = Output(descriptor: STDERR_FILENO)
        let lines = Diagnostic(LuaError(error), source: [], scriptName: "", palette: Palette(isOn: errors.hasColour)).lines
        errors.fail(lines.joined(separator: "\n"))
    }

    /// Throws `usage.command` if the first argument is not a command, or if `help` names a command that does not exist.
    static func checkCommand(_ arguments: [String]) throws(PushError) {
        let isHelp = arguments.first == "help"
        let path = CommandPath(isHelp ? Array(arguments.dropFirst()) : arguments)
        guard isHelp || path.words.isEmpty, let word = path.rest.first, !word.hasPrefix("-"), word != "help" else { return }
        if word.hasSuffix(".lua"), !isHelp {
            let command = word.hasSuffix("_spec.lua") ? "test" : "run"
            throw PushError("usage.command", "unknown command \"\(word)\"", hint: "write pushhost \(command) \(word)")
        }
        throw path.unknownCommand(word)
    }
}
