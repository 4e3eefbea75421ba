import ArgumentParser
import Bindings
import Glibc
import PushLab
import PushModel
import PushRuntime
import PushServer

struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin",
        abstract: "Manage plugins, which extend the server without rebuilding it.",
        discussion: """
            A plugin is a folder below plugins/ with an init.lua. The plugins in plugins/plugins.yaml are live, in that order; a running \
            server applies changes at once.

            Example: pushhost plugin enable frequency-cap --grant
            """,
        subcommands: [
            PluginNewCommand.self, PluginListCommand.self, PluginCheckCommand.self, PluginTestCommand.self, PluginEnableCommand.self,
            PluginDisableCommand.self, PluginGrantCommand.self, PluginRevokeCommand.self, PluginRollbackCommand.self,
        ])
}

/// Options that choose the plugins' folder and the server.
struct PluginOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Folder of the plugins. (default: the one in the settings)", valueName: "folder"), completion: .directory)
    var plugins: String?

    @Option(help: ArgumentHelp("Data folder of the server.", valueName: "folder"), completion: .directory)
    var data: String?

    @Option(help: ArgumentHelp("Settings file of the server, which names both folders.", valueName: "file"), completion: .file())
    var config: String?

    @Flag(help: "Print one JSON object (schema \(ManagementSession.schema)) instead of text.")
    var json = false

    /// Reads the settings. Throws `settings.*`.
    func settings() throws(PushError) -> ServerSettings {
        var flags: [String: String] = [:]
        flags["plugins"] = plugins
        flags["data"] = data
        return try SettingsSource(path: config, flags: flags).read().settings
    }

    func folder() throws(PushError) -> PluginFolder { PluginFolder(path: try settings().plugins) }

    var session: ManagementSession { ManagementSession(isJSON: json) }

    /// Changes a plugin's entry in the list, and creates the entry if needed. Returns whether the list changed. A lock on the folder lets
    /// one program change the list at a time.
    ///
    /// Throws `plugin.list` if the list is missing while other plugins have been live: a new list with this plugin alone would disable
    /// them.
    func change(
        _ folder: PluginFolder, _ name: String, _ edits: (PluginList.Entry?) throws(PushError) -> [PluginListEditor.Edit]
    ) throws(PushError) -> Bool {
        let lock = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if lock >= 0 { close(lock) } }
        if lock >= 0 { while flock(lock, LOCK_EX) != 0, errno == EINTR {} }
        if access(folder.listPath, F_OK) != 0, errno == ENOENT {
            let others = PluginVersions(path: "\(try settings().data)/plugins").names.filter { $0 != name }
            guard others.isEmpty else {
                throw PushError(
                    "plugin.list", "\(folder.listPath) is missing; a new list would disable \(others.joined(separator: ", "))",
                    hint: "restore the file, or create an empty one to disable them")
            }
        }
        let text = try PluginListFile(folder).text()
        let list = try PluginList(text: text, path: folder.listPath)
        let changed = try PluginListEditor(path: folder.listPath).changed(text, name: name, try edits(list[name]))
        guard changed != text else { return false }
        try ResultFile.write(Array(changed.utf8), to: folder.listPath)
        return true
    }

    /// The server's report on its plugins; nil if no server uses the data folder.
    static func served(_ settings: ServerSettings, timeout: Duration = ManagementClient.timeout) async throws(PushError) -> JSON? {
        do throws(PushError) {
            return try await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
                try await client.get(ManagementClient.path("plugins"), timeout: timeout)
            }
        } catch {
            // A server that is running and does not answer is an error.
            guard error.code == "control.unreachable", error.details[ManagementClient.isUnsent] != false else { throw error }
            return nil
        }
    }
}
