import ArgumentParser
import Bindings
import Glibc
import PushCore

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain a function of the push module, a type, or an error code.",
        discussion: """
            NAME is written as in a script (push.send, session:register, push.Outcome), in short (login, tag.user), as \
            an error code (args.unknown_key), or as an area (tag). Without it everything is listed.
            """)

    @Argument(help: "What to explain.", completion: .list(Self.names))
    var name: String?

    @Flag(help: "Print one JSON object (schema \(ExplainJSON.schema)) instead of text.")
    var json = false

    func run() {
        let output = Output(descriptor: STDOUT_FILENO)
        let errors = Output(descriptor: STDERR_FILENO)
        let report = ExplainReport(palette: Palette(isOn: output.hasColour))
        var status = ExitStatus.pass
        if let name {
            let topics = ReferenceTopic.topics(for: name)
            let suggestions = topics.isEmpty ? ReferenceTopic.suggestions(for: name) : []
            if topics.isEmpty {
                status = ExitStatus.usage
                let names = suggestions.dropLast(2) + [suggestions.suffix(2).joined(separator: " or ")]
                let near = suggestions.isEmpty ? "" : "; did you mean \(names.joined(separator: ", "))?"
                errors.line("There is nothing called \"\(name.printable)\"\(near)")
                errors.line("pushhost explain lists all names.")
            }
            if json {
                output.line(ExplainJSON.document(name, topics: topics, suggestions: suggestions).text(pretty: true))
            } else if topics.count == 1 {
                for line in report.page(topics[0]) { output.line(line) }
            } else if !topics.isEmpty {
                for line in report.list(topics) { output.line(line) }
            }
        } else if json {
            output.line(ExplainJSON.index().text(pretty: true))
        } else {
            for line in report.index().dropFirst() { output.line(line) }
        }
        let isWritten = output.finish(reportingTo: errors)
        Glibc.exit(isWritten ? status : ExitStatus.failed)
    }

    /// Those that shells complete as one word: most break words at colons.
    private static var names: [String] { ReferenceTopic.all.map(\.name).filter { !$0.contains(":") } }
}
