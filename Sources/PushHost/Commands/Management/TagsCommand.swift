import ArgumentParser
import PushModel

struct TagsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tags", abstract: "List the tags of a hub, and explain or compare tag expressions.",
        discussion: """
            Without a subcommand it lists tags: pushhost tags news is short for pushhost tags list news.

            Example: pushhost tags explain 'sports && !quiet'
            """,
        subcommands: [TagsListCommand.self, TagsExplainCommand.self, TagsProveCommand.self], defaultSubcommand: TagsListCommand.self)
}

struct TagsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the tags in use, most used first.", discussion: "Example: pushhost tags list city:")

    @Argument(help: "Only tags with this prefix.")
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
