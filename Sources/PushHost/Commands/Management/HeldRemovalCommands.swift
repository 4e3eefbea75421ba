import ArgumentParser
import PushModel

/// Options that select held removals.
struct HeldRemovalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only removals due to this notification: its id, its beginning, or latest.", valueName: "id"))
    var notification: String?

    @Option(help: ArgumentHelp("Only removals with this reason of the push service, such as Unregistered.", valueName: "name"))
    var reason: String?

    var members: [(String, String?)] { [("notificationId", notification), ("reason", reason)] }

    /// The members with the complete id of the notification.
    func members(_ client: ManagementClient, hub: String) async throws(PushError) -> [(String, String?)] {
        guard let notification else { return members }
        var filter = self
        filter.notification = try await client.ids.notification(notification, hub: hub)
        return filter.members
    }
}

struct HeldRemovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "held", abstract: "List held removals, newest first.",
        discussion: "Example: pushhost pruned held --reason Unregistered")

    @OptionGroup
    var filter: HeldRemovalOptions

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let (removals, hasMore) = try await client.items(
                ManagementClient.path("hubs", hub, "pruned", "held"), try await filter.members(client, hub: hub), first: list.limit)
            return CommandResult(json: ["items": .array(removals), "hasMore": .bool(hasMore)]) { palette in
                removals.isEmpty ? ["no held removals"] : Self.table(removals).lines(palette) + list.more(hasMore, palette)
            }
        }
    }

    private static func table(_ removals: [JSON]) -> TextTable {
        var table = TextTable("TOKEN", "PLATFORM", "HELD", "REASON", "NOTIFICATION")
        for removal in removals {
            table.add(
                removal["handle"]?.string ?? "", removal["platform"]?.string ?? "", removal["heldAt"]?.string ?? "",
                removal["reason"]?.string ?? "", removal["notificationId"]?.string ?? "")
        }
        return table
    }
}

/// Options and work that `pruned apply` and `pruned drop` share.
struct HeldRemovalDecision: ParsableArguments {
    @OptionGroup
    var filter: HeldRemovalOptions

    @Flag(help: "Select all held removals of the hub.")
    var all = false

    @Flag(help: "Show how many devices are affected, and change nothing.")
    var dryRun = false

    @OptionGroup
    var target: HubOptions

    /// Time limit of the request; a million removals take minutes.
    private static let timeLimit = Duration.seconds(3600)

    func validate() throws {
        guard filter.members.allSatisfy({ $0.1 == nil }), !all else { return }
        throw ValidationError.usage("no removals selected", hint: "use --notification, --reason or --all")
    }

    /// - Parameters:
    ///   - path: last part of the request's path: `apply` or `drop`.
    ///   - done: makes the result line from the number of devices and whether it is a dry run.
    func run(_ path: String, done: @escaping @Sendable (String, _ isDryRun: Bool) -> String) async {
        await target.run { client, hub throws(PushError) in
            var narrowed = JSONObject()
            for (name, value) in try await filter.members(client, hub: hub) { narrowed[name] = value.map(JSON.string) }
            var body = JSONObject([("dryRun", .bool(dryRun))])
            body[narrowed.isEmpty ? "all" : "filter"] = narrowed.isEmpty ? "everyone" : .object(narrowed)
            let result = try await client.post(
                ManagementClient.path("hubs", hub, "pruned", path), body: .object(body), timeout: Self.timeLimit)
            return CommandResult(json: result) { palette in
                let count = result["devices"]?.int ?? 0
                let text = done("\(count) device\(count == 1 ? "" : "s")", dryRun)
                var lines = [dryRun ? "\(text); nothing was changed" : "\(palette.green("✓")) \(text)"]
                if let outdated = result["outdated"]?.int, outdated > 0 {
                    lines.append("  \(outdated) registered again or deleted: left unchanged")
                }
                return lines
            }
        }
    }
}

struct ApplyHeldRemovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Remove the devices whose removal is held.",
        discussion: """
            Devices that have registered again are not removed.

            Example: pushhost pruned apply --notification latest --dry-run
            """)

    @OptionGroup
    var decision: HeldRemovalDecision

    func run() async {
        await decision.run("apply") { devices, isDryRun in isDryRun ? "\(devices) would be removed" : "\(devices) removed" }
    }
}

struct DropHeldRemovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Discard held removals; the devices stay registered.",
        discussion: "Example: pushhost pruned drop --all")

    @OptionGroup
    var decision: HeldRemovalDecision

    func run() async {
        await decision.run("drop") { devices, isDryRun in isDryRun ? "\(devices) would stay registered" : "\(devices) stay registered" }
    }
}
