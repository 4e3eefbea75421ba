import Bindings
import Glibc
import PushLab
import PushModel
import PushRuntime

extension PluginFolder {
    /// Hash of the current `plugins.yaml`; empty if it cannot be read.
    package var revision: String {
        (try? TextFile.read(listPath, limit: 1 << 20, kind: "script")).map { PluginList.revision($0) } ?? ""
    }

    /// The list of plugins in use; empty if `plugins.yaml` does not exist. Throws `plugin.list` and `script.*`.
    package func list() throws(PushError) -> PluginList { try PluginList(text: try listText(), path: listPath) }

    /// The text of `plugins.yaml`; empty if it does not exist. Throws `script.*`.
    package func listText() throws(PushError) -> String {
        do throws(PushError) {
            return String(decoding: try TextFile.read(listPath, limit: 1 << 20, kind: "script"), as: UTF8.self)
        } catch {
            guard error.code == "script.not_found" else { throw error }
            return ""
        }
    }

    /// Checks an entry for a plugin that is compiled into the program. Throws `plugin.native` if a folder of the same name exists or the
    /// entry pins a version.
    func checkNative(_ entry: PluginList.Entry) throws(PushError) {
        func refusal(_ what: String, _ hint: String) -> PushError {
            PushError("plugin.native", "\(entry.name) is a part of the program, \(what)", hint: hint)
        }
        if access("\(folder(of: entry.name))/\(PluginSource.main)", F_OK) == 0 {
            throw refusal("and \(folder(of: entry.name)) has the same name", "rename the folder")
        }
        if entry.pin != nil { throw refusal("and has no versions to pin", "remove \"version\" from \(listPath)") }
    }
}
