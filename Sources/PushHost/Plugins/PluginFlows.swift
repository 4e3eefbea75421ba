import Bindings
import Glibc
import PushCore

/// Flows that plugins bring along: `greet:welcome` is the flow that the plugin greet declares as welcome.
enum PluginFlows {
    /// The path that a flow is read from: the text itself, unless it names a plugin's flow and no file. Throws `plugin.*`.
    static func path(_ text: String, plugins: String) async throws(PushError) -> String {
        guard let match = text.wholeMatch(of: /([a-z][a-z0-9-]*):([A-Za-z0-9_-]+)/), access(text, F_OK) != 0 else { return text }
        let (name, flow) = (String(match.1), String(match.2))
        let folder = PluginFolder(path: plugins)
        let entry = try PluginOptions.list(of: folder)[name]
        let plugin = try await PluginProbe(folder: folder).load(folder.source(of: name), entry, grantingAll: true)
        guard let file = plugin.flows[flow] else {
            throw PushError(
                "plugin.no_flow", "the plugin \(name) has no flow \(flow)",
                hint: plugin.flows.isEmpty
                    ? "it has none"
                    : nearest(flow, in: plugin.flows.keys).map { "did you mean \(name):\($0)?" }
                        ?? "it has \(plugin.flows.keys.sorted().joined(separator: ", "))")
        }
        return "\(folder.folder(of: name))/\(file)"
    }
}
