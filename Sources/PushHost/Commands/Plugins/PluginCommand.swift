import ArgumentParser
import Bindings
import Glibc
import PushCore

struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin",
        abstract: "Plugins: what changes a server's behaviour without building it anew.",
        discussion: """
            A plugin is a folder with an init.lua below plugins/. Those that plugins/plugins.yaml lists are live, in that order; a \
            running server takes a change over at once.
            """,
        subcommands: [
            PluginNewCommand.self, PluginListCommand.self, PluginCheckCommand.self, PluginTestCommand.self, PluginEnableCommand.self,
            PluginDisableCommand.self, PluginGrantCommand.self, PluginRevokeCommand.self, PluginRollbackCommand.self,
        ])
}

/// Which plugins, of which server.
struct PluginOptions: ParsableArguments {
    @Option(help: "The folder of plugins; that of the settings if absent.", completion: .directory)
    var plugins: String?

    @Option(help: "The data folder of the server.", completion: .directory)
    var data: String?

    @Option(help: "The server's file of settings, which tells both folders.", completion: .file())
    var config: String?

    @Flag(help: "Print one JSON object (schema \(ManagementSession.schema)) instead of text.")
    var json = false

    /// Throws `settings.*`.
    func settings() throws(PushError) -> ServerSettings {
        var flags: [String: String] = [:]
        flags["plugins"] = plugins
        flags["data"] = data
        return try SettingsSource(path: config, flags: flags).read().settings
    }

    func folder() throws(PushError) -> PluginFolder { PluginFolder(path: try settings().plugins) }

    var session: ManagementSession { ManagementSession(isJSON: json) }

    /// Changes the entry of a plugin in the list, which is made where there is none. Answers whether anything is another now. Of several
    /// programs one changes it at a time.
    ///
    /// Throws `plugin.list` where the list is gone of plugins that were live: with one that has this plugin alone they would not be any
    /// more.
    func change(
        _ folder: PluginFolder, _ name: String, _ edits: (PluginList.Entry?) throws(PushError) -> [PluginList.Edit]
    ) throws(PushError) -> Bool {
        let lock = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if lock >= 0 { close(lock) } }
        if lock >= 0 { while flock(lock, LOCK_EX) != 0, errno == EINTR {} }
        if access(folder.listPath, F_OK) != 0, errno == ENOENT {
            let others = PluginVersions(path: "\(try settings().data)/plugins").names.filter { $0 != name }
            guard others.isEmpty else {
                throw PushError(
                    "plugin.list", "\(folder.listPath) is gone, and \(others.joined(separator: ", ")) would be out of use with a new one",
                    hint: "put it back; or begin with an empty file")
            }
        }
        let text = try Self.text(of: folder)
        let list = try PluginList(text: text, path: folder.listPath)
        let changed = try PluginList.changed(text, path: folder.listPath, name: name, try edits(list[name]))
        guard changed != text else { return false }
        try ResultFile.write(Array(changed.utf8), to: folder.listPath)
        return true
    }

    /// What the server tells of its plugins; nil where none uses the data folder.
    static func served(_ settings: ServerSettings, patience: Duration = ManagementClient.patience) async throws(PushError) -> JSON? {
        do throws(PushError) {
            return try await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
                try await client.get(ManagementClient.path("plugins"), patience: patience)
            }
        } catch {
            // One that is there and says nothing is another matter.
            guard error.code == "control.unreachable", error.details[ManagementClient.isUnsent] != false else { throw error }
            return nil
        }
    }

    /// The list as it stands; empty where there is none.
    static func list(of folder: PluginFolder) throws(PushError) -> PluginList {
        try PluginList(text: try text(of: folder), path: folder.listPath)
    }

    private static func text(of folder: PluginFolder) throws(PushError) -> String {
        do throws(PushError) {
            return String(decoding: try TextFile.read(folder.listPath, limit: 1 << 20, kind: "script"), as: UTF8.self)
        } catch {
            guard error.code == "script.not_found" else { throw error }
            return ""
        }
    }
}
