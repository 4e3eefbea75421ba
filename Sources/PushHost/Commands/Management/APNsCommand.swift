import ArgumentParser
import PushCore

struct APNsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns", abstract: "What only APNs has: broadcast channels for live activities.",
        subcommands: [APNsChannelsCommand.self])
}

struct APNsChannelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels",
        abstract: "Make, show, list and delete the broadcast channels of a hub's app.",
        discussion: """
            Devices with iOS 18 subscribe to a channel; one request updates the live activities of all of them: pushhost send \
            --channel. The server asks APNs with the hub's credential, on port 2196 or 2195.
            """,
        subcommands: [
            APNsChannelsListCommand.self, APNsChannelsShowCommand.self, APNsChannelsCreateCommand.self, APNsChannelsDeleteCommand.self,
        ])
}

/// Which hub of which server.
struct APNsChannelOptions: ParsableArguments {
    @Option(help: "The hub; the only one if absent.")
    var hub: String?

    @OptionGroup
    var server: FolderOptions

    /// Asks the server, and shows what `lines` makes of its answer.
    func run(_ action: String, _ members: [(String, String)] = [], lines: @escaping @Sendable (JSON, Palette) -> [String]) async -> Never {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            try await ManagementClient.with(.folder(try server.folder())) { client throws(PushError) in
                let order = [("action", action), ("hub", try await client.hub(hub))] + members
                let answer = try await client.post(
                    ManagementClient.path("apns", "channels"), body: .object(JSONObject(order.map { ($0.0, .string($0.1)) })))
                return CommandResult(json: answer) { lines(answer, $0) }
            }
        }
    }
}

struct APNsChannelsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "The ids of all channels.")

    @OptionGroup
    var options: APNsChannelOptions

    func run() async {
        await options.run("list") { answer, _ in (answer["items"]?.array ?? []).compactMap { $0.string?.printable } }
    }
}

struct APNsChannelsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Whether there is a channel, and what it keeps.")

    @Argument(help: "Its id.")
    var channel: String

    @OptionGroup
    var options: APNsChannelOptions

    func run() async {
        await options.run("show", [("channel", channel)]) { answer, palette in
            [
                palette.bold("channel \(answer["channel"]?.string ?? "")".printable),
                "  keeps               \((answer["keep"]?.string ?? "what is not known here").printable)",
            ]
        }
    }
}

struct APNsChannelsCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Make a channel, and show its id.")

    enum Kept: String, ExpressibleByArgument, CaseIterable { case nothing, newest }

    @Option(help: "What is kept for devices that are not connected: nothing, or the newest message until it expires.")
    var keep: Kept = .nothing

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
        commandName: "delete", abstract: "Delete a channel; devices that subscribe to it get nothing any more.")

    @Argument(help: "Its id.")
    var channel: String

    @OptionGroup
    var options: APNsChannelOptions

    func run() async {
        await options.run("delete", [("channel", channel)]) { answer, palette in
            ["\(palette.green("✓")) channel \((answer["channel"]?.string ?? "").printable) deleted"]
        }
    }
}
