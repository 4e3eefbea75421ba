package import Bindings
package import Lua
package import PushLab
package import PushModel
import Storage

/// Loads plugins outside a server, to inspect and check them.
package struct PluginProbe: Sendable {
    let folder: PluginFolder
    private let program: HostProgram

    package init(folder: PluginFolder, program: HostProgram) {
        self.folder = folder
        self.program = program
    }

    /// Loads a plugin from its files. Throws the load error as a ``PushError``, its message prefixed with the location.
    ///
    /// - Parameter entry: its entry in the list; nil if it is not listed.
    package func load(_ source: PluginSource, _ entry: PluginList.Entry?, grantingAll: Bool) async throws(PushError) -> LoadedPlugin {
        do throws(LuaError) {
            return try await tried(source, entry, grantingAll: grantingAll)
        } catch {
            throw PushError(
                error.code, (error.location.map { "\($0): " } ?? "") + error.message, hint: error.hint)
        }
    }

    /// Loads a plugin that is compiled into the program, with the configuration of its entry. Throws `plugin.config` and `plugin.native`.
    package func tried(_ native: NativePluginType, _ entry: PluginList.Entry) async throws(LuaError) -> LoadedPlugin {
        let thread = LuaThread(name: "probe")
        defer { thread.stop() }
        do throws(PushError) { try NativePluginCheck.run(entry, in: folder) } catch { throw LuaError(error) }
        return try host(thread).load(native, configuration(of: entry))
    }

    /// Loads a listed plugin, whether it is a folder or compiled into the program. Throws the load error.
    ///
    /// - Parameter versions: the store of pinned versions.
    package func tried(_ entry: PluginList.Entry, versions: PluginVersions) async throws -> LoadedPlugin {
        if let native = program.plugin(named: entry.name) { return try await tried(native, entry) }
        return try await tried(versions.source(of: entry, in: folder), entry)
    }

    /// Runs a plugin's specs, as a server does before it activates a version. Throws `plugin.spec` and errors that specs raise.
    package func trial(of source: PluginSource) async throws(PushError) {
        do {
            try await PluginSpecCheck(source: source, module: program.registry).run()
        } catch {
            let error =
                error as? LuaError ?? (error as? PushError).map(LuaError.init)
                ?? LuaError(kind: .failure, code: "host.error", message: "\(error)")
            throw PushError(error.code, (error.location.map { "\($0): " } ?? "") + error.message, hint: error.hint)
        }
    }

    /// Loads a plugin from its files and throws the original ``LuaError``.
    package func tried(_ source: PluginSource, _ entry: PluginList.Entry?, grantingAll: Bool = false) async throws(LuaError) -> LoadedPlugin
    {
        let thread = LuaThread(name: "probe")
        defer { thread.stop() }
        return try await host(thread).load(source, configuration(of: entry), isGrantedAll: grantingAll)
    }

    private func configuration(of entry: PluginList.Entry?) -> PluginConfiguration {
        PluginConfiguration(values: entry?.config ?? .null, grants: entry?.grants ?? [], file: folder.listPath)
    }

    private func host(_ thread: LuaThread) throws(LuaError) -> PluginHost {
        do throws(PushError) {
            let world = try EmbeddedWorld(
                seed: 1, thread: thread, module: program.registry, secrets: ProjectSecrets(demoFolder: folder.path)
            ).world
            return PluginHost(
                services: PluginServices(
                    world: world, keyValues: MemoryKeyValueSpaces(), http: NoOutboundHTTP(),
                    start: { work in Task { await work() } }))
        } catch {
            throw LuaError(error)
        }
    }
}
