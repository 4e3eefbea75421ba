import ArgumentParser
import PushModel

struct PrunedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pruned",
        abstract: "List and restore devices removed because their tokens are invalid; apply or discard held removals.",
        discussion: """
            Removed devices can be restored for a day (keep.pruned). When one notification would remove more than a share of its audience \
            (feedback.max_removed_share), further removals are held: the devices stay registered until you apply or drop the removals.

            Examples:
              pushhost pruned held
              pushhost pruned drop --notification latest
            """,
        subcommands: [
            PrunedListCommand.self, PrunedRestoreCommand.self, HeldRemovalsCommand.self, ApplyHeldRemovalsCommand.self,
            DropHeldRemovalsCommand.self,
        ])
}

/// Options that select removed devices.
struct PrunedOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only the registration or installation with this id.", valueName: "device"))
    var id: String?

    @Option(help: ArgumentHelp("Only devices removed due to this notification: its id, its beginning, or latest.", valueName: "id"))
    var notification: String?

    @Option(help: ArgumentHelp("Only devices removed for this reason of the push service, such as Unregistered.", valueName: "name"))
    var reason: String?

    @Option(help: ArgumentHelp("Only devices removed since this time, such as 2026-01-31T12:00:00Z.", valueName: "time"))
    var since: String?

    func validate() throws {
        guard let since, Timestamp(iso8601: since) == nil else { return }
        throw ValidationError.usage("--since: invalid time \"\(since)\"", hint: "write 2026-01-31T12:00:00Z")
    }

    var members: [(String, String?)] { [("id", id), ("notificationId", notification), ("reason", reason), ("since", since)] }

    /// The members with the complete id of the notification.
    func members(_ client: ManagementClient, hub: String) async throws(PushError) -> [(String, String?)] {
        guard let notification else { return members }
        var filter = self
        filter.notification = try await client.ids.notification(notification, hub: hub)
        return filter.members
    }
}

struct PrunedListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List removed devices that can be restored, newest first.",
        discussion: "Example: pushhost pruned list --reason Unregistered")

    @OptionGroup
    var filter: PrunedOptions

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let (devices, hasMore) = try await client.items(
                ManagementClient.path("hubs", hub, "pruned"), try await filter.members(client, hub: hub),
                first: list.limit)
            return CommandResult(json: ["items": .array(devices), "hasMore": .bool(hasMore)]) { palette in
                devices.isEmpty ? ["no removed devices"] : Self.table(devices).lines(palette) + list.more(hasMore, palette)
            }
        }
    }

    private static func table(_ devices: [JSON]) -> TextTable {
        var table = TextTable("DEVICE", "PLATFORM", "TAGS", "REMOVED", "REASON", "NOTIFICATION")
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
        commandName: "restore", abstract: "Restore removed devices. Devices that registered again are left unchanged.",
        discussion: """
            Each option narrows the selection; without any, --all is required.

            Example: pushhost pruned restore --notification latest --dry-run
            """)

    @OptionGroup
    var filter: PrunedOptions

    @Flag(help: "Restore all removed devices of the hub.")
    var all = false

    /// Time limit of the request; restoring half of a large hub takes minutes.
    private static let timeout = Duration.seconds(3600)

    @Flag(help: "Show how many devices would be restored, and change nothing.")
    var dryRun = false

    @OptionGroup
    var target: HubOptions

    func validate() throws {
        guard filter.members.allSatisfy({ $0.1 == nil }), !all else { return }
        throw ValidationError.usage("no devices selected", hint: "use --id, --notification, --reason, --since or --all")
    }

    func run() async {
        await target.run { client, hub throws(PushError) in
            var narrowed = JSONObject()
            for (name, value) in try await filter.members(client, hub: hub) { narrowed[name] = value.map(JSON.string) }
            var body = JSONObject([("dryRun", .bool(dryRun))])
            body[narrowed.isEmpty ? "all" : "filter"] = narrowed.isEmpty ? "everyone" : .object(narrowed)
            let result = try await client.post(
                ManagementClient.path("hubs", hub, "pruned", "restore"), body: .object(body), timeout: Self.timeout)
            return CommandResult(json: result) { palette in
                let count = result["restored"]?.int ?? 0
                let devices = "\(count) device\(count == 1 ? "" : "s")"
                var lines = [dryRun ? "\(devices) would be restored; nothing was changed" : "\(palette.green("✓")) \(devices) restored"]
                for (name, words) in [
                    ("registeredAgain", "registered again"), ("gone", "deleted or expired"),
                    ("unfit", "cannot be restored; see the server's log"),
                ] {
                    if let number = result[name]?.int, number > 0 { lines.append("  \(number) \(words): left unchanged") }
                }
                return lines
            }
        }
    }
}
