import Bindings
import Glibc
import PushLab
import PushModel

/// Checks the entry of a plugin that is compiled into the program.
enum NativePluginCheck {
    /// Throws `plugin.native` if a folder of the same name exists or the entry pins a version.
    static func run(_ entry: PluginList.Entry, in folder: PluginFolder) throws(PushError) {
        func refusal(_ what: String, _ hint: String) -> PushError {
            PushError("plugin.native", "\(entry.name) is a part of the program, \(what)", hint: hint)
        }
        if access("\(folder.folder(of: entry.name))/\(PluginSource.main)", F_OK) == 0 {
            throw refusal("and \(folder.folder(of: entry.name)) has the same name", "rename the folder")
        }
        if entry.pin != nil { throw refusal("and has no versions to pin", "remove \"version\" from \(folder.listPath)") }
    }
}
