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
        let host: PluginHost
        do throws(PushError) {
            let world = try EmbeddedWorld(seed: 1, thread: thread, secrets: ProjectSecrets(demoFolder: folder.path)).world
            host = PluginHost(
                services: PluginServices(
                    world: world, keyValues: MemoryKeyValueSpaces(), http: NoServers(), log: { _ in },
                    start: { work in Task { await work() } }))
        } catch {
            throw LuaError(error)
        }
        return try await host.load(
            source, PluginConfiguration(values: entry?.config ?? .null, grants: entry?.grants ?? [], file: folder.listPath),
            isGrantedAll: grantingAll)
    }
}
