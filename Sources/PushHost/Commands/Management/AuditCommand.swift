import ArgumentParser
import Bindings
import PushCore
import WebAPI

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Who did what with a server, and whether anybody has been at the record of it.",
        discussion: "Entries are chained by their hashes: one that is changed, taken out or put in shows.",
        subcommands: [AuditListCommand.self, AuditVerifyCommand.self, AuditExportCommand.self])
}

struct AuditListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Who did what, the latest first.")

    @Option(help: "Only what this one did: owner, key:NAME, key:HUB/NAME, plugin:NAME, flow:NAME.")
    var actor: String?

    @Option(help: "Only this, such as key.create.")
    var action: String?

    @Option(
        help: ArgumentHelp("Only from then on: a moment such as 2026-01-31T12:00:00Z, or 24h for the last 24 hours.", valueName: "time"))
    var since: String?

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            let filter = AuditFilter(
                actor: actor, action: action,
                since: try since.map { text throws(PushError) in try Self.moment(text, SystemClock().now) })
            return try await AuditSource.with(try server.target()) { source throws(PushError) in
                let (entries, hasMore) = try await source.list(filter, first: list.limit)
                return CommandResult(json: ["items": .array(entries), "hasMore": .bool(hasMore)]) { palette in
                    entries.isEmpty ? ["no entries"] : Self.table(entries).lines(palette) + list.more(hasMore, palette)
                }
            }
        }
    }

    private static func moment(_ text: String, _ now: Timestamp) throws(PushError) -> Timestamp {
        if let moment = Timestamp(iso8601: text) { return moment }
        if let past = Duration(parsing: text), past > .zero { return now + (.zero - past) }
        throw PushError(
            "usage.value", "--since \(text): that is no moment", hint: "write 2026-01-31T12:00:00Z, or 24h for the last 24 hours")
    }

    private static func table(_ entries: [JSON]) -> TextTable {
        var table = TextTable("#ENTRY", "TIME", "ACTOR", "ACTION", "SUBJECT", "DETAILS")
        for entry in entries {
            let outcome = entry["outcome"]?.string ?? ""
            let mark = outcome == AuditRecord.Outcome.succeeded.rawValue ? "" : " (\(outcome))"
            table.add(
                entry.number("sequence"), entry["time"]?.string ?? "", entry["actor"]?.string ?? "",
                "\(entry["action"]?.string ?? "")\(mark)", entry["subject"]?.string ?? "", details(entry))
        }
        return table
    }

    /// What was put into words stands for all of it.
    private static func details(_ entry: JSON) -> String {
        if let words = entry["details"]?["words"]?.string { return words }
        return (entry["details"]?.object?.members ?? []).map { "\($0.key): \($0.value.string ?? "")" }.joined(separator: " · ")
    }
}
