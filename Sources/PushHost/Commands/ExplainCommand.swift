import ArgumentParser
import Bindings
import Glibc
import Lua
import PushModel

struct ExplainCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain a function, a type, an error code or a setting, or search for words.",
        discussion: """
            NAME is a name as in a script (push.send, session:register, push.Outcome), its short form (login, tag.user), an error code \
            (args.unknown_key), an area (tag), a setting (listen.port), a reason of a push service (BadDeviceToken) or a cause of a \
            trace (circuit_open). Other words are searched for in all of these; the ten best topics are listed. Without NAME, all \
            functions, types and error codes are listed.

            Examples:
              pushhost explain push.send
              pushhost explain too many requests
              pushhost explain 429
            """)

    @Argument(help: "Function, type, error code, area, setting, reason, or words to search for.", completion: .list(Self.names))
    var name: [String] = []

    @Flag(help: "Print one JSON object (schema \(ExplainJSON.schema)) instead of text.")
    var json = false

    func run(in program: HostProgram) {
        let topics = ReferenceIndex(program.registry, notes: ProgramNotes.all)
        let output = Output(descriptor: STDOUT_FILENO)
        let errors = Output(descriptor: STDERR_FILENO)
        let report = ExplainReport(registry: program.registry, palette: Palette(isOn: output.hasColour))
        let json = ExplainJSON(registry: program.registry)
        var status = ExitStatus.pass
        if !name.isEmpty {
            let name = name.joined(separator: " ")
            let found = topics.answer(to: name)
            let suggestions = found.isEmpty ? topics.suggestions(for: name) : []
            if found.isEmpty {
                status = ExitStatus.usage
                let names = suggestions.dropLast(2) + [suggestions.suffix(2).joined(separator: " or ")]
                let near = suggestions.isEmpty ? "" : "; did you mean \(names.joined(separator: ", "))?"
                let error = PushError(
                    "usage.value", "unknown name \"\(name)\"\(near)",
                    hint: "try one word, such as timeout, or list all names with pushhost explain")
                let palette = Palette(isOn: errors.hasColour)
                // The page of the error would only lead back here.
                for line in Diagnostic(LuaError(error), source: [], scriptName: "", palette: palette).text { errors.line(line) }
            }
            if self.json {
                output.line(json.document(name, found, suggestions: suggestions).text(pretty: true))
            } else {
                for line in report.text(found) { output.line(line) }
            }
        } else if self.json {
            output.line(json.index().text(pretty: true))
        } else {
            for line in report.index().dropFirst() { output.line(line) }
        }
        let isWritten = output.finish(reportingTo: errors)
        Glibc.exit(isWritten ? status : ExitStatus.failed)
    }

    /// Names offered for completion. Those with a colon are left out, because most shells split words at colons.
    private static var names: [String] {
        ReferenceIndex(HostProgram(extensions).registry).all.map(\.name).filter { !$0.contains(":") }
    }

    /// The program's additions, for completion. The argument parser asks a type for it, not a value.
    @TaskLocal static var extensions = NativeExtensions.none
}
