import ArgumentParser
import Glibc
import PushModel
import PushRuntime

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Show the version of this program.",
        discussion: "pushhost status shows that of a running server.\n\nExample: pushhost version --json")

    @Flag(help: "Print one JSON object (schema \(ManagementSession.schema)) instead of text.")
    var json = false

    func run() {
        let output = Output(descriptor: STDOUT_FILENO)
        output.line(json ? ManagementSession.document(["version": .string(Release.version)]).text(pretty: true) : Release.version)
        let isWritten = output.finish(reportingTo: Output(descriptor: STDERR_FILENO))
        if !isWritten { Glibc.exit(ExitStatus.failed) }
    }
}
