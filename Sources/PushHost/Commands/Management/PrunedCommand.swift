import ArgumentParser
import PushCore

struct PrunedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pruned",
        abstract: "List and restore devices removed for invalid tokens, and decide about removals that are held.",
        discussion: """
            Removed devices can be restored for a day (keep.pruned). When one notification would remove more than a share of its audience \
            (feedback.max_removed_share), further removals are held: the devices stay registered until you apply or drop the removals.

            Example: pushhost pruned held, then pushhost pruned drop --notification ID
            """,
        subcommands: [
            PrunedListCommand.self, PrunedRestoreCommand.self, HeldRemovalsCommand.self, ApplyHeldRemovalsCommand.self,
            DropHeldRemovalsCommand.self,
        ])
}

/// Which of those that left are meant.
struct PrunedOptions: ParsableArguments {
    @Option(help: "The registration or installation with this id.")
    var id: String?

    @Option(help: "Those that this notification made leave.")
    var notification: String?

    @Option(help: "Those that left for this reason, in the push service's own word, such as Unregistered.")
    var reason: String?

    @Option(help: ArgumentHelp("Those that left at this moment or later, such as 2026-01-31T12:00:00Z.", valueName: "moment"))
    var since: String?

    func validate() throws {
        guard let since, Timestamp(iso8601: since) == nil else { return }
        throw ValidationError("--since \(since): give a moment such as 2026-01-31T12:00:00Z")
    }

    var members: [(String, String?)] { [("id", id), ("notificationId", notification), ("reason", reason), ("since", since)] }
}

struct PrunedListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The devices that left and can be brought back, the latest first.")

    @OptionGroup
    var filter: PrunedOptions

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let (devices, hasMore) = try await client.items(ManagementClient.path("hubs", hub, "pruned"), filter.members, first: list.limit)
            return CommandResult(json: ["items": .array(devices), "hasMore": .bool(hasMore)]) { palette in
                devices.isEmpty ? ["nobody has left"] : Self.table(devices).lines(palette) + list.more(hasMore, palette)
            }
        }
    }

    private static func table(_ devices: [JSON]) -> TextTable {
        var table = TextTable("DEVICE", "PLATFORM", "TAGS", "LEFT", "REASON", "NOTIFICATION")
        for device in devices {
            table.add(
                device["installationId"]?.string ?? device["registrationId"]?.string ?? "", device["platform"]?.string ?? "",
                device.words("tags"), device["leftAt"]?.string ?? "", device["reason"]?.string ?? "",
                device["notificationId"]?.string ?? "")
        }
        return table
    }
}

struct PrunedRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Bring devices back that left; who has registered again stays as he is.",
        discussion: "Each option narrows who is meant; without any, say --all.")

    @OptionGroup
    var filter: PrunedOptions

    @Flag(help: "All of them.")
    var all = false

    /// Half a hub takes its time.
    private static let patience = Duration.seconds(3600)

    @Flag(help: "Only say how many would come back.")
    var dryRun = false

    @OptionGroup
    var target: HubOptions

    func validate() throws {
        guard filter.members.allSatisfy({ $0.1 == nil }), !all else { return }
        throw ValidationError("say who is to come back: --id, --notification, --reason, --since, or --all")
    }

    func run() async {
        await target.run { client, hub throws(PushError) in
            var narrowed = JSONObject()
            for (name, value) in filter.members { narrowed[name] = value.map(JSON.string) }
            var body = JSONObject([("dryRun", .bool(dryRun))])
            body[narrowed.isEmpty ? "all" : "filter"] = narrowed.isEmpty ? "everyone" : .object(narrowed)
            let result = try await client.post(
                ManagementClient.path("hubs", hub, "pruned", "restore"), body: .object(body), patience: Self.patience)
            return CommandResult(json: result) { palette in
                let count = result["restored"]?.int ?? 0
                let devices = "\(count) device\(count == 1 ? "" : "s")"
                var lines = [dryRun ? "\(devices) would come back; nothing was changed" : "\(palette.green("✓")) \(devices) came back"]
                for (name, words) in [
                    ("registeredAgain", "registered again meanwhile"), ("gone", "deleted or expired meanwhile"),
                    ("unfit", "cannot come back as they are kept, the log says why"),
                ] {
                    if let number = result[name]?.int, number > 0 { lines.append("  \(number) \(words): left as they are") }
                }
                return lines
            }
        }
    }
}
