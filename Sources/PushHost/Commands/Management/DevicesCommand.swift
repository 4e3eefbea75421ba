import ArgumentParser
import PushModel

/// Options that limit how much of a list is shown.
struct ListOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Maximum number of items.", valueName: "count"))
    var top = 50

    @Flag(help: "List all items.")
    var all = false

    func validate() throws {
        guard top > 0 else { throw ValidationError.invalidValue("--top", top, expected: "a whole number from 1; --all lists all items") }
    }

    var limit: Int? { all ? nil : top }

    /// The line below an incomplete list.
    func more(_ hasMore: Bool, _ palette: Palette) -> [String] {
        hasMore ? [palette.dim("more items exist: show them with --all")] : []
    }
}

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List, add, import and export the devices of a hub: installations and standalone registrations.",
        discussion: """
            pushhost devices without a subcommand lists them.

            Example: pushhost devices --tag sports --platform apns
            """,
        subcommands: [DevicesListCommand.self, DevicesAddCommand.self, DevicesImportCommand.self, DevicesExportCommand.self],
        defaultSubcommand: DevicesListCommand.self)
}

struct DevicesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the devices of a hub: installations and standalone registrations.",
        discussion: """
            Each option narrows the list. Handles are masked.

            Example: pushhost devices list --tag sports --platform apns
            """)

    @Option(help: ArgumentHelp("Only devices of this user.", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("Only devices with this tag.", valueName: "name"))
    var tag: String?

    @Option(
        help: ArgumentHelp("Only devices of this platform. (values: \(Platform.spellings.joined(separator: ", ")))", valueName: "name"),
        completion: .list(Platform.spellings))
    var platform: String?

    @Option(help: ArgumentHelp("Only devices whose last notification had this outcome.", valueName: "name"))
    var outcome: OutcomeName?

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var target: HubOptions

    /// The platform that `--platform` names.
    private var service: Platform? { platform.flatMap { Platform(name: $0) ?? Platform(shortName: $0) } }

    func validate() throws {
        guard let platform, service == nil else { return }
        throw ValidationError.usage("--platform: unknown platform \"\(platform)\"", hint: "use \(Platform.spellings.alternatives)")
    }

    func run() async {
        await target.run { client, hub throws(PushError) in
            let query: [(String, String?)] = [
                ("user", user), ("tag", tag), ("platform", service?.shortName),
                ("lastOutcome", outcome?.rawValue),
            ]
            var (devices, hasMore) = try await client.items(
                ManagementClient.path("hubs", hub, "installations"), query, first: list.limit)
            if !hasMore {
                let remaining = list.limit.map { $0 - devices.count }
                let rest = try await client.items(
                    ManagementClient.path("hubs", hub, "registrations"), query, first: remaining.map { max(1, $0) })
                hasMore = rest.hasMore || (remaining == 0 && !rest.items.isEmpty)
                devices += remaining == 0 ? [] : rest.items
            }
            let (shown, isCut) = (devices, hasMore)
            return CommandResult(json: ["items": .array(shown), "hasMore": .bool(isCut)]) { palette in
                shown.isEmpty ? ["no devices"] : Self.table(shown).lines(palette) + list.more(isCut, palette)
            }
        }
    }

    private static func table(_ devices: [JSON]) -> TextTable {
        var table = TextTable("DEVICE", "PLATFORM", "USER", "TAGS", "TEMPLATES", "LAST OUTCOME")
        for device in devices {
            table.add(
                device["installationId"]?.string ?? device["registrationId"]?.string ?? "", device["platform"]?.string ?? "",
                device["userId"]?.string ?? "", device.words("tags"), device["template"]?.string ?? device.words("templates"),
                device["lastOutcome"]?.string ?? "")
        }
        return table
    }
}
