import NIOHTTP1
import PushModel
import PushRuntime
import RemoteHub

/// The work of `pushhost devices import`: reads the file, sends its devices, and reports what was done.
struct DeviceImportWork: Sendable {
    let file: String
    /// The path of the file for rejected lines.
    let rejects: String
    let fromLine: Int
    let isStrict: Bool
    let isDryRun: Bool
    let parser: DeviceLineParser

    /// Time between lines of progress where the output is not a terminal.
    private static let reportInterval: Duration = .seconds(5)

    func run(_ client: ManagementClient, _ hub: String, _ session: ManagementSession) async throws(PushError) -> DeviceImporter.Summary {
        let lines = try LineFile(file)
        let rejected = RejectsFile(rejects, isContinued: fromLine > 1)
        var parser = parser
        var read = 0
        if parser.hasHeader {
            guard let header = lines.next() else {
                throw PushError("usage.value", "\(file) is empty", hint: "begin it with a line such as \(CSVLine.example)")
            }
            try parser.readHeader(header)
            read = 1
        }
        while read < fromLine - 1, lines.next() != nil { read += 1 }
        let importer = DeviceImporter(
            parser: parser, isDryRun: isDryRun, isStrict: isStrict,
            post: { body throws(PushError) in
                let path = ManagementClient.path("hubs", hub, "devices", "import")
                let answer = try await client.exchange(.POST, path, [], ["Content-Type": "application/json"], body)
                return (try? JSON(parsing: answer.body)) ?? .null
            }, pause: { try? await SystemClock().sleep(until: SystemClock().now + $0) })
        let clock = SystemClock()
        let began = clock.now
        var reported = began
        let (summary, error) = await importer.run(after: read, next: { lines.next() }, reject: rejected.write) { summary in
            let isDue = clock.now >= reported + Self.reportInterval
            if isDue { reported = clock.now }
            let seconds = Double(max(clock.now.milliseconds - began.milliseconds, 1)) / 1000
            let part = lines.size.map { Double(lines.position) / Double($0) }
            session.report(Self.progress(summary, seconds: seconds, part: part), isDue: isDue)
        }
        try rejected.finish()
        if let error { throw describing(error, summary) }
        return summary
    }

    /// A line of progress: devices, rate, rejected lines, and the share of the file that has been read.
    static func progress(_ summary: DeviceImporter.Summary, seconds: Double, part: Double?) -> String {
        let rate = Int(Double(summary.stored + summary.rejected) / seconds)
        let share = part.map { " · \(Int($0 * 100)) % read" } ?? ""
        return "\(summary.stored) devices · \(rate)/s · \(summary.rejected) rejected\(share)"
    }

    /// The error with what was done before, and how to continue.
    func describing(_ error: PushError, _ summary: DeviceImporter.Summary) -> PushError {
        var error = error
        let verb = isDryRun ? "checked" : "imported"
        error.message += "; \(summary.stored) devices were \(verb), up to line \(summary.lastLine)"
        let resume = file == "-" ? "repeat the import" : "continue with --from-line \(summary.lastLine + 1)"
        error.hint = error.hint.map { "\($0); then \(resume)" } ?? resume
        return error
    }

    func result(_ summary: DeviceImporter.Summary, _ hub: String) -> CommandResult {
        let isStopped = isStrict && summary.rejected > 0
        var json: JSONObject = [
            "stored": .integer(Int64(isDryRun ? 0 : summary.stored)), "rejected": .integer(Int64(summary.rejected)),
            "lastLine": .integer(Int64(summary.lastLine)), "dryRun": .bool(isDryRun),
        ]
        if isDryRun { json.append("valid", .integer(Int64(summary.stored))) }
        if summary.rejected > 0 { json.append("rejects", .string(rejects)) }
        return CommandResult(
            json: .object(json), lines: { lines(summary, hub, isStopped, $0) },
            status: isStopped ? ExitStatus.failed : summary.rejected > 0 ? ExitStatus.partial : ExitStatus.pass)
    }

    private func lines(_ summary: DeviceImporter.Summary, _ hub: String, _ isStopped: Bool, _ palette: Palette) -> [String] {
        let devices = "\(summary.stored) device\(summary.stored == 1 ? "" : "s")"
        let done = isDryRun ? "\(devices) valid; nothing was stored" : "\(devices) imported into hub \"\(hub.printable)\""
        var lines = ["\(summary.rejected == 0 ? palette.green("✓") : palette.red("✗")) \(done)"]
        if summary.rejected > 0 {
            let count = "\(summary.rejected) line\(summary.rejected == 1 ? "" : "s")"
            lines.append("  \(count) rejected: see \(rejects.printable)")
        }
        if isStopped { lines.append("  stopped after line \(summary.lastLine), because of --strict") }
        return lines
    }
}
