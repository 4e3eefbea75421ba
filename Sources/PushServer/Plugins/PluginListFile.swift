package import PushLab
package import PushModel
import PushRuntime

/// The list of plugins in use as a file, `plugins.yaml` of a plugin folder.
package struct PluginListFile: Sendable {
    private let path: String

    package init(_ folder: PluginFolder) { path = folder.listPath }

    /// Hash of its current text; empty if it cannot be read.
    package var revision: String {
        (try? TextFile.read(path, limit: 1 << 20, kind: "script")).map { PluginList.revision($0) } ?? ""
    }

    /// The list of plugins in use; empty if `plugins.yaml` does not exist. Throws `plugin.list` and `script.*`.
    package func list() throws(PushError) -> PluginList { try PluginList(text: try text(), path: path) }

    /// The text of `plugins.yaml`; empty if it does not exist. Throws `script.*`.
    package func text() throws(PushError) -> String {
        do throws(PushError) {
            return String(decoding: try TextFile.read(path, limit: 1 << 20, kind: "script"), as: UTF8.self)
        } catch {
            guard error.code == "script.not_found" else { throw error }
            return ""
        }
    }
}
