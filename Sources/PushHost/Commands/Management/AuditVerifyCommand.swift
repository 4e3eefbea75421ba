import ArgumentParser
import PushModel
import WebAPI

struct AuditVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify the audit log.",
        discussion: """
            Checks the chain of hashes from the first entry to the last and prints its head. Record the head elsewhere: anyone who can \
            write to the database can write a whole new chain, which only --expect with a recorded head detects. If no server runs, the \
            database in the data folder is read.

            Example: pushhost audit verify audit.jsonl

            Exit codes: 0 intact · 1 broken, with the first broken entry · 2 usage · 4 server error.
            """)

    @Argument(help: "File created by pushhost audit export. (default: the server's log)", completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("Recorded chain head that the log must contain.", valueName: "sequence:hash"))
    var expect: String?

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            let recorded = try expect.map { text throws(PushError) in try AuditHead(recorded: text) }
            let answer: JSON
            if let file {
                answer = try AuditExport.verify(file, against: recorded).json
            } else {
                answer = try await AuditSource.with(try server.target()) { source throws(PushError) in try await source.verify(recorded) }
            }
            let isIntact = answer["whole"]?.bool == true
            return CommandResult(
                json: answer, lines: { lines(answer, isIntact, $0) }, status: isIntact ? ExitStatus.pass : ExitStatus.failed)
        }
    }

    private func lines(_ answer: JSON, _ isIntact: Bool, _ palette: Palette) -> [String] {
        guard isIntact else {
            return [
                "\(palette.red("✗")) the audit log is broken: \(answer["meaning"]?.string ?? "")",
                "  entries before \(answer.number("brokenAt")) are intact; later ones prove nothing",
            ]
        }
        let count = answer["entries"]?.int ?? 0
        let through = expect == nil ? "" : ", including the expected head"
        var lines = [
            "\(palette.green("✓")) the audit log is intact: \(count) entr\(count == 1 ? "y" : "ies")\(through)",
            "  head  \(answer["end"]?.string ?? "")",
        ]
        if file != nil { lines.append(palette.dim("  a file may lack later entries: verify with --expect and a head recorded later")) }
        return lines
    }
}
