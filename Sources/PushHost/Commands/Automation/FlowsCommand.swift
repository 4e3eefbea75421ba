import ArgumentParser
import PushModel
import PushRuntime

struct FlowsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flows",
        abstract: "List the flows of a server, or show one with its parameters.",
        discussion: """
            Flows are defined in the settings file, under flows:. Their runs are listed by pushhost runs list.

            Example: pushhost flows breaking-news
            """)

    @Argument(help: "Name of a flow to show.")
    var flow: String?

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            guard let flow else {
                let flows = try await client.allItems(ManagementClient.path("flows"))
                return CommandResult(json: ["items": .array(flows), "hasMore": false]) { palette in
                    flows.isEmpty
                        ? ["no flows; define them under flows: in the settings file"]
                        : Self.table(flows).lines(palette) + Self.issues(flows, palette)
                }
            }
            let one = try await client.get(ManagementClient.path("flows", flow))
            return CommandResult(json: one) { Self.lines(one, $0) }
        }
    }

    private static func table(_ flows: [JSON]) -> TextTable {
        var table = TextTable("FLOW", "SCRIPT", "STARTED BY", "GUARANTEE", "#UNFINISHED")
        for flow in flows {
            table.add(
                flow["flow"]?.string ?? "", flow["script"]?.string ?? "", triggers(flow).joined(separator: ", "),
                flow["guarantee"]?.string ?? "", flow.number("unfinished"))
        }
        return table
    }

    private static func issues(_ flows: [JSON], _ palette: Palette) -> [String] {
        flows.compactMap { flow in
            flow["trouble"]?.string.map { "\(palette.red("✗")) \("\(flow["flow"]?.string ?? "") cannot start: \($0)".printable)" }
        }
    }

    private static func triggers(_ flow: JSON) -> [String] {
        var words: [String] = []
        if let access = flow["http"]?.string { words.append("POST /flows/\(flow["flow"]?.string ?? "") (\(access))") }
        words += (flow["schedules"]?.array ?? []).compactMap(\.string).map { "schedule \($0)" }
        words += (flow["events"]?.array ?? []).compactMap(\.string)
        if flow["answersBackend"] == true { words.append("POST /api/notifications") }
        return words.isEmpty ? ["pushhost runs start"] : words
    }

    private static func lines(_ flow: JSON, _ palette: Palette) -> [String] {
        func line(_ label: String, _ text: String) -> String { "  \(label.padded(to: 12))\(text)".printable }
        let summary = flow["summary"]?.string ?? ""
        var lines = ["\(palette.bold((flow["flow"]?.string ?? "").printable))\(summary.isEmpty ? "" : "  \(summary.printable)")"]
        lines.append(line("script", "\(flow["script"]?.string ?? "")  version \(flow["version"]?.string ?? "")"))
        for word in triggers(flow) { lines.append(line("started by", word)) }
        if let hub = flow["hub"]?.string { lines.append(line("hub", hub)) }
        let overlap = flow["overlap"]?.string.map { ", then \($0)" } ?? ""
        lines.append(line("runs", "\(flow.number("concurrency")) at a time\(overlap), \(flow["guarantee"]?.string ?? "")"))
        if let timeout = flow["timeout"]?.string { lines.append(line("timeout", timeout)) }
        let given = flow["arguments"]?.pairs ?? ""
        if !given.isEmpty { lines.append(line("arguments", given)) }
        for (name, schema) in flow["parameters"]?["properties"]?.object?.members ?? [] {
            let type = schema["type"]?.string ?? schema["type"]?.array?.compactMap(\.string).joined(separator: " or ") ?? "JSON"
            let standard = schema["default"].map { ", default \($0.plainText)" } ?? ""
            let isRequired = flow["parameters"]?["required"]?.array?.contains(.string(name)) == true
            lines.append(
                line(
                    "parameter",
                    "\(name) (\(type)\(standard)\(isRequired ? ", required" : ""))\(schema["description"]?.string.map { "  \($0)" } ?? "")")
            )
        }
        return lines
    }
}
