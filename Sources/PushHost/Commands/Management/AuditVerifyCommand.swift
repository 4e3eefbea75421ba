import ArgumentParser
import PushCore
import WebAPI

struct AuditVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Whether the audit log is as it was written.",
        discussion: """
            Goes along the chain from the first entry to the last and prints the end of it. Note that elsewhere: who can write to the \
            database can also write a whole new chain, and only a noted end (--expect) shows that. Where no server runs, the database \
            in the data folder is read.

            Exit codes: 0 it holds · 1 it does not, with the first entry that shows it · 2 usage · 4 the server refuses.
            """)

    @Argument(help: "A file that pushhost audit export has made; the log of the server if absent.", completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("An end that was noted before, which the log must go through.", valueName: "sequence:hash"))
    var expect: String?

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            let noted = try expect.map { text throws(PushError) in try AuditEnd(noted: text) }
            let answer: JSON
            if let file {
                answer = try AuditExport.verify(file, against: noted).json
            } else {
                answer = try await AuditSource.with(try server.target()) { source throws(PushError) in try await source.verify(noted) }
            }
            let isWhole = answer["whole"]?.bool == true
            return CommandResult(
                json: answer, lines: { lines(answer, isWhole, $0) }, status: isWhole ? ExitStatus.pass : ExitStatus.failed)
        }
    }

    private func lines(_ answer: JSON, _ isWhole: Bool, _ palette: Palette) -> [String] {
        guard isWhole else {
            return [
                "\(palette.red("✗")) the audit log is broken: \(answer["meaning"]?.string ?? "")",
                "  everything before entry \(answer.number("brokenAt")) holds; from there on it proves nothing",
            ]
        }
        let count = answer["entries"]?.int ?? 0
        let through = expect == nil ? "" : ", and goes through the noted end"
        var lines = [
            "\(palette.green("✓")) the audit log holds: \(count) entr\(count == 1 ? "y" : "ies")\(through)",
            "  end  \(answer["end"]?.string ?? "")",
        ]
        if file != nil { lines.append(palette.dim("  whether there were later entries only an end shows that was noted later (--expect)")) }
        return lines
    }
}
