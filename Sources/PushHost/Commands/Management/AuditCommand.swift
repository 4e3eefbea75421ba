import ArgumentParser
import Bindings
import PushModel
import PushRuntime
import WebAPI

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "List, verify and export the audit log.",
        discussion: """
            Each entry contains the hash of the one before it, so changed, removed and inserted entries are detected.

            Example: pushhost audit list --since 24h
            """,
        subcommands: [AuditListCommand.self, AuditVerifyCommand.self, AuditExportCommand.self])
}

struct AuditListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List audit entries, newest first.",
        discussion: "Example: pushhost audit list --actor key:ci --since 24h")

    @Option(
        help: ArgumentHelp("Only entries of this actor: owner, key:NAME, key:HUB/NAME, plugin:NAME, flow:NAME.", valueName: "principal"))
    var actor: String?

    @Option(help: ArgumentHelp("Only entries with this action, such as key.create.", valueName: "name"))
    var action: String?

    @Option(
        help: ArgumentHelp("Only entries since this time, such as 2026-01-31T12:00:00Z, or 24h for the last 24 hours.", valueName: "time"))
    var since: String?

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            let filter = AuditFilter(
                actor: actor, action: action,
                since: try since.map { text throws(PushError) in try Self.time(text, SystemClock().now) })
            return try await AuditSource.with(try server.target()) { source throws(PushError) in
                let (entries, hasMore) = try await source.list(filter, first: list.limit)
                return CommandResult(json: ["items": .array(entries), "hasMore": .bool(hasMore)]) { palette in
                    entries.isEmpty ? ["no entries"] : Self.table(entries).lines(palette) + list.more(hasMore, palette)
                }
            }
        }
    }

    private static func time(_ text: String, _ now: Timestamp) throws(PushError) -> Timestamp {
        if let time = Timestamp(iso8601: text) { return time }
        if let past = Duration(parsing: text), past > .zero { return now + (.zero - past) }
        throw PushError(
            "usage.value", "--since: invalid time \"\(text)\"", hint: "write 2026-01-31T12:00:00Z, or 24h for the last 24 hours")
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

    /// The entry's own summary (`words`) if it has one; otherwise all of its details.
    private static func details(_ entry: JSON) -> String {
        if let words = entry["details"]?["words"]?.string { return words }
        return (entry["details"]?.object?.members ?? []).map { "\($0.key): \($0.value.string ?? "")" }.joined(separator: " · ")
    }
}
