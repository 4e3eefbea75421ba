import Bindings
import Glibc
import Lua
import PushCore

/// What a command has to say.
struct CommandResult {
    /// For programs.
    var json: JSON
    /// For people.
    var lines: (Palette) -> [String]
    /// The exit code.
    var status = ExitStatus.pass
}

/// A command that manages a server, from its question to its exit code.
struct ManagementSession: Sendable {
    static let schema = "pushhost.manage/1"

    let isJSON: Bool
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    /// Does the work, shows what came of it and ends the program.
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

    /// Asks on a terminal whether a change shall be made that cannot be taken back.
    ///
    /// - Parameter isSaid: whether `--yes` was given.
    /// Throws `usage.confirmation` where the answer is no, or nobody can be asked.
    func confirm(_ question: String, isSaid: Bool) async throws(PushError) {
        if isSaid { return }
        try await Question(text: question, code: "usage.confirmation").ask(on: errors)
    }

    /// Says at once, to people, what is known already.
    func show(_ lines: (Palette) -> [String]) {
        guard !isJSON else { return }
        for line in lines(Palette(isOn: output.hasColour)) { output.line(line) }
        output.flush()
    }

    /// A line that the next one replaces, for whoever watches.
    func progress(_ text: String) { errors.progress(text) }

    static func refusal(_ error: PushError, exitCode: Int32) -> JSON {
        var members: JSONObject = [
            "code": .string(error.code), "message": .string(error.message), "hint": error.hint.map(JSON.string) ?? .null,
        ]
        members[Sender.accepted] = error.details[Sender.accepted]
        for member in ManagementClient.shown { members[member] = error.details[member] }
        return document(["error": .object(members)], exitCode)
    }

    private static func document(_ members: JSONObject, _ status: Int32) -> JSON {
        .object(JSONObject([("schema", .string(schema)), ("exit_code", .integer(Int64(status)))] + members.members))
    }

    /// What the server or the way to it refused is 4; what was wrong before anybody was asked, 2.
    private static func status(of error: PushError) -> Int32 {
        if error.code == "cancelled" { return ExitStatus.interrupted }
        if ["approval.required", "approval.denied", "approval.own"].contains(error.code) { return ExitStatus.policy }
        if error.details[ManagementClient.fromServer] == true { return ExitStatus.target }
        return ["output.failed", "backup.failed"].contains(error.code) ? ExitStatus.failed : ExitStatus.usage
    }
}
