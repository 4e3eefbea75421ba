import Bindings
import Lua
import PushCore
import Storage

/// Loads plugins without a server, to see what they are.
struct PluginProbe: Sendable {
    let folder: PluginFolder

    /// Throws `plugin.refused`, with what is wrong.
    ///
    /// - Parameter entry: how it is listed; nil where it is not.
    func load(_ source: PluginSource, _ entry: PluginList.Entry?, grantingAll: Bool) async throws(PushError) -> LoadedPlugin {
        do throws(LuaError) {
            return try await tried(source, entry, grantingAll: grantingAll)
        } catch {
            throw PushError(
                error.code, (error.location.map { "\($0): " } ?? "") + error.message, hint: error.hint)
        }
    }

    /// Makes a plugin that is a part of the program, as it is listed. Throws `plugin.config` and `plugin.native`.
    func tried(_ native: NativePluginType, _ entry: PluginList.Entry) async throws(LuaError) -> LoadedPlugin {
        let thread = LuaThread(name: "probe")
        defer { thread.stop() }
        do throws(PushError) { try folder.checkNative(entry) } catch { throw LuaError(error) }
        return try host(thread).load(native, configuration(of: entry))
    }

    /// What is there of a listed plugin, be it a folder or a part of the program. Throws what is wrong with it.
    ///
    /// - Parameter versions: where pinned versions are kept.
    func tried(_ entry: PluginList.Entry, versions: PluginVersions) async throws -> LoadedPlugin {
        if let native = NativeParts.plugin(named: entry.name) { return try await tried(native, entry) }
        return try await tried(versions.source(of: entry, in: folder), entry)
    }

    /// Runs its specs, as a server does. Throws `plugin.spec` and what they raise.
    func trial(of source: PluginSource) async throws(PushError) {
        do {
            try await PluginTrial(source: source).run()
        } catch {
            let error =
                error as? LuaError ?? (error as? PushError).map(LuaError.init)
                ?? LuaError(kind: .failure, code: "host.error", message: "\(error)")
            throw PushError(error.code, (error.location.map { "\($0): " } ?? "") + error.message, hint: error.hint)
        }
    }

    /// The same, with the error as it was raised.
    func tried(_ source: PluginSource, _ entry: PluginList.Entry?, grantingAll: Bool = false) async throws(LuaError) -> LoadedPlugin {
        let thread = LuaThread(name: "probe")
        defer { thread.stop() }
        return try await host(thread).load(source, configuration(of: entry), isGrantedAll: grantingAll)
    }

    private func configuration(of entry: PluginList.Entry?) -> PluginConfiguration {
        PluginConfiguration(values: entry?.config ?? .null, grants: entry?.grants ?? [], file: folder.listPath)
    }

    private func host(_ thread: LuaThread) throws(LuaError) -> PluginHost {
        do throws(PushError) {
            let world = try EmbeddedWorld(seed: 1, thread: thread, secrets: ProjectSecrets(demoFolder: folder.path)).world
            return PluginHost(
                services: PluginServices(
                    world: world, keyValues: MemoryKeyValueSpaces(), http: NoServers(), log: { _ in },
                    start: { work in Task { await work() } }))
        } catch {
            throw LuaError(error)
        }
    }
}
