import ArgumentParser
import PushCore

struct TagsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tags", abstract: "The tags of a hub, and what tag expressions mean.",
        discussion: "Without the name of a command it lists tags: pushhost tags news is pushhost tags list news.",
        subcommands: [TagsListCommand.self, TagsExplainCommand.self, TagsProveCommand.self], defaultSubcommand: TagsListCommand.self)
}

struct TagsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "The tags in use, most used first.")

    @Argument(help: "Only tags that begin so.")
    var prefix: String?

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let (tags, hasMore) = try await client.items(
                ManagementClient.path("hubs", hub, "tags"), [("prefix", prefix)], first: list.limit)
            var table = TextTable("TAG", "#REGISTRATIONS")
            for tag in tags { table.add(tag["tag"]?.string ?? "", tag.number("registrations")) }
            let lines = table.lines
            return CommandResult(json: ["items": .array(tags), "hasMore": .bool(hasMore)]) { palette in
                tags.isEmpty ? ["no tags"] : lines(palette) + list.more(hasMore, palette)
            }
        }
    }
}
