import Bindings
import Glibc
import Lua
import PushModel

/// The result of a command.
struct CommandResult {
    /// Printed with `--json`.
    var json: JSON
    /// Makes the lines to print as text.
    var lines: (Palette) -> [String]
    /// The exit code.
    var status = ExitStatus.pass
}

/// Runs a management command: does its work, prints the result or the error, and ends the program.
struct ManagementSession: Sendable {
    static let schema = "pushhost.manage/1"

    let isJSON: Bool
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    /// Does the work, prints the result and ends the program.
    func run(_ work: () async throws(PushError) -> CommandResult) async -> Never {
        let status: Int32
        do throws(PushError) {
            let result = try await work()
            status = result.status
            if isJSON {
                output.line(Self.document(["result": result.json], status).text(pretty: true))
            } else {
                for line in result.lines(Palette(isOn: output.hasColour)) { output.line(line) }
            }
        } catch {
            status = Self.status(of: error)
            if isJSON {
                output.line(Self.refusal(error, exitCode: status).text(pretty: true))
            } else {
                let palette = Palette(isOn: errors.hasColour)
                for line in Diagnostic(LuaError(error), source: [], scriptName: "", palette: palette).lines { errors.line(line) }
            }
        }
        let isWritten = output.finish(reportingTo: errors)
        Glibc.exit(isWritten ? status : max(status, ExitStatus.failed))
    }

    /// Asks on the terminal to confirm a change that cannot be undone.
    ///
    /// - Parameters:
    ///   - question: what needs confirmation, as a clause without a full stop.
    ///   - consequence: what follows from it, as another clause.
    ///   - isPreconfirmed: whether `--yes` was given.
    /// Throws `usage.confirmation` if the answer is no, or if there is no terminal.
    func confirm(_ question: String, _ consequence: String? = nil, isPreconfirmed: Bool) async throws(PushError) {
        if isPreconfirmed { return }
        try await Question(text: question, consequence: consequence, code: "usage.confirmation").ask(on: errors)
    }

    /// Prints lines at once, before the work has ended. Does nothing with `--json`.
    func show(_ lines: (Palette) -> [String]) {
        guard !isJSON else { return }
        for line in lines(Palette(isOn: output.hasColour)) { output.line(line) }
        output.flush()
    }

    /// Shows a line on the terminal that the next one replaces.
    func progress(_ text: String) { errors.progress(text) }

    /// Shows a line of progress: on a terminal in place of the one before, elsewhere only if it is due.
    func report(_ text: String, isDue: Bool) {
        if errors.isTerminal {
            errors.progress(text)
        } else if isDue {
            errors.line(text)
            errors.flush()
        }
    }

    static func refusal(_ error: PushError, exitCode: Int32) -> JSON {
        var members: JSONObject = [
            "code": .string(error.code), "message": .string(error.message), "hint": error.hint.map(JSON.string) ?? .null,
        ]
        for member in [Sender.accepted, IDResolver.candidates] { members[member] = error.details[member] }
        for member in ManagementClient.shown { members[member] = error.details[member] }
        return document(["error": .object(members)], exitCode)
    }

    /// The document of a result that needs no server.
    static func document(_ result: JSON) -> JSON { document(["result": result], ExitStatus.pass) }

    private static func document(_ members: JSONObject, _ status: Int32) -> JSON {
        .object(JSONObject([("schema", .string(schema)), ("exit_code", .integer(Int64(status)))] + members.members))
    }

    /// The exit code for an error: 4 from the server or the connection to it, 5 for approvals, 130 if cancelled, 1 if a file cannot be
    /// written, and 2 for everything else.
    private static func status(of error: PushError) -> Int32 {
        if error.code == "cancelled" { return ExitStatus.interrupted }
        if ["approval.required", "approval.denied", "approval.own"].contains(error.code) { return ExitStatus.policy }
        if error.details[ManagementClient.fromServer] == true { return ExitStatus.target }
        return ["output.failed", "backup.failed"].contains(error.code) ? ExitStatus.failed : ExitStatus.usage
    }
}
