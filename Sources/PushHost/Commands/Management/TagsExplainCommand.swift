import ArgumentParser
import PushModel
import PushRuntime

struct TagsExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Count the registrations that match each part of a tag expression.",
        discussion: """
            All parts are counted in one snapshot. For a tag that is not in use, the most similar one in use is suggested.

            Example: pushhost tags explain 'sports && !quiet'
            """)

    @Argument(help: "Tag expression, in quotes.")
    var expression: String

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let answer = try await client.get(
                ManagementClient.path("hubs", hub, "tags", "explain"), [("expression", expression)])
            return CommandResult(json: answer) { Self.lines(answer, $0) }
        }
    }

    private static func lines(_ answer: JSON, _ palette: Palette) -> [String] {
        var table = TextTable("#REGISTRATIONS", "PART")
        for part in answer["parts"]?.array ?? [] {
            let margin = String(repeating: "  ", count: min(part["depth"]?.int ?? 0, TagExpression.maximumDepth))
            table.add(part.number("registrations"), "\(margin)\(part["text"]?.string ?? "")\(hint(part))")
        }
        let all = answer["registrations"]?.int ?? 0
        let remarks = (answer["azure"]?.array ?? []).compactMap(\.string)
        return table.lines(palette) + [palette.dim("of \(all) registration\(all == 1 ? "" : "s") in the hub")]
            + remarks.map { "\(palette.yellow("azure"))  \($0.printable)" }
    }

    private static func hint(_ part: JSON) -> String {
        guard let near = part["nearest"], let tag = near["tag"]?.string, let count = near["registrations"]?.int else { return "" }
        return "   did you mean \"\(tag)\"? It has \(count)"
    }
}
