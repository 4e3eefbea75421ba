import ArgumentParser
import PushModel

/// Options that limit how much of a list is shown.
struct ListOptions: ParsableArguments {
    @Option(help: "Maximum number of items.")
    var top = 50

    @Flag(help: "All items.")
    var all = false

    func validate() throws {
        guard top > 0 else { throw ValidationError("--top \(top): expected a number from 1 on, or use --all") }
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
        abstract: "List the devices of a hub: installations and standalone registrations.",
        discussion: """
            Each option narrows the list. Handles are masked.

            Example: pushhost devices --tag sports --platform apns
            """)

    @Option(help: "Only devices of this user.")
    var user: String?

    @Option(help: "Only devices with this tag.")
    var tag: String?

    @Option(help: "Only devices of this platform.", completion: .list(Platform.spellings))
    var platform: String?

    @Option(help: "Only devices whose last notification had this outcome.", completion: .list(OutcomeName.allCases.map(\.rawValue)))
    var outcome: String?

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let query: [(String, String?)] = [("user", user), ("tag", tag), ("platform", platform), ("lastOutcome", outcome)]
            var (devices, hasMore) = try await client.items(
                ManagementClient.path("hubs", hub, "installations"), query, first: list.limit)
            if !hasMore {
                let room = list.limit.map { $0 - devices.count }
                let rest = try await client.items(
                    ManagementClient.path("hubs", hub, "registrations"), query, first: room.map { max(1, $0) })
                hasMore = rest.hasMore || (room == 0 && !rest.items.isEmpty)
                devices += room == 0 ? [] : rest.items
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
