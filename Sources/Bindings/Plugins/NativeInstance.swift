import Lua
import PushCore

/// A plugin that is a part of the program, as it was configured: its hooks are Swift.
package struct NativeInstance: Sendable {
    let type: NativePluginType
    let hooks: any NativeHooks
}

/// The hooks of a native plugin; those that it has are `phases` of its type. What they throw is a failure, but for `HookVeto`.
package protocol NativeHooks: Sendable {
    func beforeSend(_ draft: SendDraft) async throws -> SendDraft
    func afterSend(_ sent: SentNotification) async throws
    func beforeDeliver(_ group: any HookedGroup) async throws -> [DeliveryRuling]
    func onOutcome(_ ended: EndedNotification) async throws
    func onRegister(_ draft: RegistrationDraft) async throws -> RegistrationDraft
    func onLogin(_ login: LoginDraft) async throws
    func onSecureFetch(_ fetch: SecureFetch) async throws
}

/// What a program brings along that is built with plugins of its own. A list of plugins names it as it names a folder.
package struct NativePluginType: Sendable {
    package var name: String
    /// What its author calls its version.
    package var release: String
    package var summary: String
    package var settings: ConfigSchema
    package var phases: Set<HookPhase>
    /// What becomes of the work when a hook of it fails.
    package var isFailClosed: Bool
    /// What it decides about with `fail_closed`.
    package var closedPhases: Set<HookPhase> { isFailClosed ? phases.filter(\.isDeciding) : [] }
    /// Of a call of a hook that decides.
    package var timeout: Duration
    /// Makes its hooks; throws where it cannot begin.
    package var make: @Sendable (NativePluginSetup) throws -> any NativeHooks

    package init(
        name: String, release: String, summary: String, settings: ConfigSchema, phases: Set<HookPhase>, isFailClosed: Bool,
        timeout: Duration, make: @escaping @Sendable (NativePluginSetup) throws -> any NativeHooks
    ) {
        self.name = name
        self.release = release
        self.summary = summary
        self.settings = settings
        self.phases = phases
        self.isFailClosed = isFailClosed
        self.timeout = timeout
        self.make = make
    }

    /// What lists and lines of the log have in the place of a version's hash.
    package static let version = "native"

    var policy: PluginManifest.Hook.Policy { isFailClosed ? .closed : .open }

    /// Stands for the files that it does not have.
    package var source: PluginSource { PluginSource(name: name, folder: Self.version, files: [:], hash: Self.version) }
}

/// What a native plugin is made with.
package struct NativePluginSetup: Sendable {
    /// By name, checked and with defaults.
    package var settings: LuaTable
    package var log: @Sendable (PluginMessage.Level, String) -> Void
    /// Of the hub.
    package var clock: any HubClock

    package init(
        settings: LuaTable, log: @escaping @Sendable (PluginMessage.Level, String) -> Void, clock: any HubClock
    ) {
        self.settings = settings
        self.log = log
        self.clock = clock
    }
}

extension PluginHost {
    /// Makes a plugin of the program with its configuration. Throws `plugin.config`, and `plugin.native` for what it has against it.
    package func load(_ type: NativePluginType, _ configuration: PluginConfiguration) throws(LuaError) -> LoadedPlugin {
        guard configuration.grants.isEmpty else {
            throw .misuse(
                "plugin.native", "\(configuration.file): \(type.name) is a part of the program, and is granted nothing",
                hint: "take \"grants\" out: what it may do was decided when the program was built")
        }
        let script = FlowScript(name: "\(NativePluginType.version)/\(type.name)", source: [], version: NativePluginType.version)
        let (services, name) = (services, type.name)
        let values: LuaValue
        do throws(ConfigSchema.Misfit) {
            values = try type.settings.values(
                of: configuration.values, at: "config", secrets: { services.secret(named: $0, for: script) }, zones: services.world.zones)
        } catch {
            throw PluginInstance.misfit(error, of: name, in: configuration)
        }
        guard case .table(let settings) = values else { throw .failure("host.error", "the settings of \(name) are no table") }
        let log: @Sendable (PluginMessage.Level, String) -> Void = { level, text in
            services.log(PluginMessage(plugin: name, version: NativePluginType.version, level: level, text: text))
        }
        do {
            let hooks = try type.make(NativePluginSetup(settings: settings, log: log, clock: services.world.clock))
            return LoadedPlugin(body: .native(NativeInstance(type: type, hooks: hooks)), configuration: configuration)
        } catch {
            throw .misuse("plugin.native", "\(configuration.file): \(name) does not begin: \(error)")
        }
    }
}
