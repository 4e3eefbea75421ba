import ArgumentParser
import NIOHTTP1
import PushModel
import PushRuntime

extension DeviceLineParser.Format: ExpressibleByArgument {}

struct DevicesImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import devices from a file, one in each line.",
        discussion: """
            The formats are csv (a header with the columns \(CSVLine.example)), ndjson (installations as JSON) and azure (registrations as \
            XML, as jobs of Azure Notification Hubs write them). After an interruption, import the same file again: it changes the \
            same devices. Hooks of plugins and flows are not called.

            Example: pushhost devices import devices.csv

            Exit codes: 0 all lines imported · 1 stopped by --strict, or a file could not be written · 2 usage · 4 server error, or the \
            server is unreachable · 7 some lines rejected · 130 interrupted.
            """)

    @Argument(help: "File with the devices, or - for standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "Format of the file; by default its extension decides: .csv, .ndjson and .jsonl, .xml and .txt (azure).", valueName: "name"))
    var format: DeviceLineParser.Format?

    @Option(
        help: ArgumentHelp(
            "Push service of CSV lines that name none. (values: \(Platform.spellings.joined(separator: ", ")))", valueName: "name"),
        completion: .list(Platform.spellings))
    var platform: String?

    @Flag(help: "Add no template to devices of CSV lines: they then receive only native payloads.")
    var noTemplate = false

    @Option(help: ArgumentHelp("First line to import, as an interrupted import prints it.", valueName: "number"))
    var fromLine = 1

    @Option(
        help: ArgumentHelp(
            "File for rejected lines, with number and reason; by default the name of the file, or devices, with .rejects.csv.",
            valueName: "file"),
        completion: .file())
    var rejects: String?

    @Flag(help: "Stop when a line is rejected.")
    var strict = false

    @Flag(help: "Check the lines, and store nothing.")
    var dryRun = false

    @OptionGroup
    var target: HubOptions

    func validate() throws {
        guard fromLine > 0 else { throw ValidationError.invalidValue("--from-line", fromLine, expected: "a whole number from 1") }
        guard let format = format ?? DeviceLineParser.Format(path: file) else {
            let what = file == "-" ? "the format of standard input is unknown" : "the format of \(file) is unknown"
            let names = DeviceLineParser.Format.allCases.map(\.rawValue).alternatives
            throw ValidationError.usage(what, hint: "pass --format with \(names)")
        }
        guard format == .csv || platform == nil && !noTemplate else {
            throw ValidationError.usage("--platform and --no-template are only for CSV", hint: "remove them")
        }
    }

    func run() async {
        let session = ManagementSession(isJSON: target.server.json)
        await session.run { () throws(PushError) in
            let parser = DeviceLineParser(
                format: format ?? DeviceLineParser.Format(path: file) ?? .ndjson, platform: platform, hasTextTemplate: !noTemplate)
            let work = DeviceImportWork(
                file: file, rejects: rejects ?? (file == "-" ? "devices.rejects.csv" : "\(file).rejects.csv"), fromLine: fromLine,
                isStrict: strict, isDryRun: dryRun, parser: parser)
            return try await ManagementClient.with(try target.server.target()) { client throws(PushError) in
                let hub = try await client.hubs.name(target.hub)
                let summary = try await Interruption().cancelling { () throws(PushError) in try await work.run(client, hub, session) }
                return work.result(summary, hub)
            }
        }
    }
}
