import ArgumentParser
import PushModel
import PushRuntime

struct APNsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns", abstract: "Manage APNs broadcast channels for live activities.",
        discussion: "Example: pushhost apns channels list",
        subcommands: [APNsChannelsCommand.self])
}

struct APNsChannelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels",
        abstract: "Create, list, show and delete broadcast channels.",
        discussion: """
            Devices with iOS 18 subscribe to a channel; one pushhost send --channel updates the live activities of all of them. The \
            server connects to APNs with the hub's credential, on port 2196 or 2195.

            Example: pushhost apns channels create --keep newest
            """,
        subcommands: [
            APNsChannelsListCommand.self, APNsChannelsShowCommand.self, APNsChannelsCreateCommand.self, APNsChannelsDeleteCommand.self,
        ])
}

/// Options that choose the server and the hub.
struct APNsChannelOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Name of the hub; may be left out if there is only one.", valueName: "name"))
    var hub: String?

    @OptionGroup
    var server: FolderOptions

    /// Posts a request and shows the lines that `lines` makes of the answer.
    func run(_ action: String, _ members: [(String, String)] = [], lines: @escaping @Sendable (JSON, Palette) -> [String]) async -> Never {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            try await ManagementClient.with(.folder(try server.folder())) { client throws(PushError) in
                let order = [("action", action), ("hub", try await client.hubs.name(hub))] + members
                let answer = try await client.post(
                    ManagementClient.path("apns", "channels"), body: .object(JSONObject(order.map { ($0.0, .string($0.1)) })))
                return CommandResult(json: answer) { lines(answer, $0) }
            }
        }
    }
}

struct APNsChannelsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the ids of all channels.", discussion: "Example: pushhost apns channels list")

    @OptionGroup
    var options: APNsChannelOptions

    func run() async {
        await options.run("list") { answer, _ in
            let channels = (answer["items"]?.array ?? []).compactMap { $0.string?.printable }
            return channels.isEmpty ? ["no channels"] : channels
        }
    }
}

struct APNsChannelsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show whether a channel exists, and what APNs stores for it.",
        discussion: "Example: pushhost apns channels show dHN0LXNyY2gtY2hubA==")

    @Argument(help: "Id of the channel, as pushhost apns channels list shows it.")
    var channel: String

    @OptionGroup
    var options: APNsChannelOptions

    func run() async {
        await options.run("show", [("channel", channel)]) { answer, palette in
            [
                palette.bold("channel \(answer["channel"]?.string ?? "")".printable),
                "  stores              \((answer["keep"]?.string ?? "unknown").printable)",
            ]
        }
    }
}

struct APNsChannelsCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a channel and show its id.",
        discussion: "Example: pushhost apns channels create --keep newest")

    enum MessageStorage: String, ExpressibleByArgument, CaseIterable { case nothing, newest }

    @Option(
        help: ArgumentHelp(
            "What APNs stores for devices that are offline: nothing, or the newest message until it expires.", valueName: "messages"))
    var keep: MessageStorage = .nothing

    @OptionGroup
    var options: APNsChannelOptions

    func run() async {
        await options.run("create", [("keep", keep.rawValue)]) { answer, palette in
            ["\(palette.green("✓")) channel \((answer["channel"]?.string ?? "").printable) created"]
        }
    }
}

struct APNsChannelsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a channel. Its subscribers receive nothing more through it.",
        discussion: "Example: pushhost apns channels delete dHN0LXNyY2gtY2hubA==")

    @Argument(help: "Id of the channel, as pushhost apns channels list shows it.")
    var channel: String

    @OptionGroup
    var options: APNsChannelOptions

    func run() async {
        await options.run("delete", [("channel", channel)]) { answer, palette in
            ["\(palette.green("✓")) channel \((answer["channel"]?.string ?? "").printable) deleted"]
        }
    }
}
