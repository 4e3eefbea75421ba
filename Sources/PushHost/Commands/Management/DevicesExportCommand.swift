import ArgumentParser
import Glibc
import PushModel
import PushRuntime

struct DevicesExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export the devices of a hub to a file, one in each line, with their tokens.",
        discussion: """
            The formats are those of pushhost devices import. Only ndjson has everything: csv leaves out templates and push variables, and \
            azure leaves out installations.

            Example: pushhost devices export devices.ndjson

            Exit codes: 0 exported · 1 a file could not be written · 2 usage · 4 server error, or the server is unreachable · 130 \
            interrupted.
            """)

    @Argument(help: "File to create, or - for standard output.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "Format of the file; by default its extension decides: .csv, .ndjson and .jsonl, .xml and .txt (azure).", valueName: "name"))
    var format: DeviceLineParser.Format?

    @Flag(help: "Replace the file if it exists.")
    var force = false

    @OptionGroup
    var target: HubOptions

    func validate() throws {
        guard format != nil || DeviceLineParser.Format(path: file) != nil else {
            let what = file == "-" ? "the format of standard output is unknown" : "the format of \(file) is unknown"
            let names = DeviceLineParser.Format.allCases.map(\.rawValue).alternatives
            throw ValidationError.usage(what, hint: "pass --format with \(names)")
        }
        guard !target.server.json || file != "-" else {
            throw ValidationError.usage("--json needs a file", hint: "name a file, or remove --json")
        }
    }

    func run() async {
        let session = ManagementSession(isJSON: target.server.json)
        let (file, force) = (file, force)
        let format = format ?? DeviceLineParser.Format(path: file) ?? .ndjson
        await session.run { () throws(PushError) in
            try await ManagementClient.with(try target.server.target()) { client throws(PushError) in
                let hub = try await client.hubs.name(target.hub)
                let summary = try await Interruption().cancelling { () throws(PushError) in
                    let output = try NewFile(file, replacing: force)
                    let export = DeviceExport(format: format) { query throws(PushError) in
                        try await client.get(ManagementClient.path("hubs", hub, "devices", "export"), query)
                    }
                    let summary = try await export.write(to: output.line) { summary in
                        session.report("\(summary.written) devices", isDue: false)
                    }
                    try output.finish()
                    return summary
                }
                return Self.result(summary, hub, file)
            }
        }
    }

    private static func result(_ summary: DeviceExport.Summary, _ hub: String, _ file: String) -> CommandResult {
        CommandResult(
            json: [
                "file": .string(file), "exported": .integer(Int64(summary.written)), "leftOut": .integer(Int64(summary.left)),
            ]
        ) { palette in
            guard file != "-" else { return [] }
            let devices = "\(summary.written) device\(summary.written == 1 ? "" : "s")"
            let done = "\(palette.green("✓")) \(devices) exported from hub \"\(hub.printable)\" to \(file.printable)"
            guard summary.left > 0 else { return [done] }
            let left = "\(summary.left) installation\(summary.left == 1 ? "" : "s")"
            return [done, "  \(left) left out, which azure cannot represent; use ndjson"]
        }
    }
}
