package import Bindings
import Glibc
import PushLab
package import PushModel

/// Flows provided by plugins: `greet:welcome` is the flow `welcome` of the plugin `greet`.
package enum PluginFlows {
    /// Resolves the path of a flow. Text of the form `plugin:flow` resolves to the plugin's file unless a file of that name exists; any
    /// other text is returned unchanged. Throws `plugin.*`.
    package static func path(_ text: String, plugins: String, of program: HostProgram) async throws(PushError) -> String {
        guard let match = text.wholeMatch(of: /([a-z][a-z0-9-]*):([A-Za-z0-9_-]+)/), access(text, F_OK) != 0 else { return text }
        let (name, flow) = (String(match.1), String(match.2))
        let folder = PluginFolder(path: plugins)
        let entry = try PluginListFile(folder).list()[name]
        let plugin = try await PluginProbe(folder: folder, program: program).load(folder.source(of: name), entry, grantingAll: true)
        guard let file = plugin.flows[flow] else {
            throw PushError(
                "plugin.no_flow", "the plugin \(name) has no flow \(flow)",
                hint: plugin.flows.isEmpty
                    ? "it has no flows"
                    : nearest(flow, in: plugin.flows.keys).map { "did you mean \(name):\($0)?" }
                        ?? "its flows are \(plugin.flows.keys.sorted().joined(separator: ", "))")
        }
        return "\(folder.folder(of: name))/\(file)"
    }
}
