package import Lua
package import PushModel

/// A configured plugin that is built into the program. Its hooks are written in Swift.
package struct NativeInstance: Sendable {
    let type: NativePluginType
    let hooks: any NativeHooks
}

/// A type of plugin that is built into the program. The plugin list refers to it by name, like a folder.
package struct NativePluginType: Sendable {
    package var name: String
    /// The version given by the author.
    package var release: String
    package var summary: String
    package var settings: ConfigSchema
    package var phases: Set<HookPhase>
    /// Whether operations are rejected when a hook of the plugin fails.
    package var isFailClosed: Bool
    /// The deciding phases whose failure rejects the operation.
    package var failClosedPhases: Set<HookPhase> { isFailClosed ? phases.filter(\.isDeciding) : [] }
    /// The time limit of a call of a blocking hook.
    package var timeout: Duration
    /// Creates the hooks. Throws if the plugin cannot start.
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

    /// Shown in lists and logs instead of a version hash.
    package static let version = "native"

    var policy: PluginManifest.Hook.Policy { isFailClosed ? .closed : .open }

    /// A placeholder for the files that a native plugin does not have.
    package var source: PluginSource { PluginSource(name: name, folder: Self.version, files: [:], hash: Self.version) }
}

/// The environment in which a native plugin is created.
package struct NativePluginSetup: Sendable {
    /// Settings by name, checked and with defaults.
    package var settings: LuaTable
    package var log: @Sendable (PluginMessage.Level, String) -> Void
    /// The clock of the hub.
    package var clock: any HubClock

    package init(
        settings: LuaTable, log: @escaping @Sendable (PluginMessage.Level, String) -> Void, clock: any HubClock
    ) {
        self.settings = settings
        self.log = log
        self.clock = clock
    }
}
