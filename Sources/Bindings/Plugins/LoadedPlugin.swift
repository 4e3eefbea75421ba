import Lua
package import PushModel

/// A loaded version of a plugin.
package struct LoadedPlugin: Sendable {
    enum Body: Sendable {
        case script(PluginInstance)
        case native(NativeInstance)
    }

    let body: Body
    package private(set) var configuration: PluginConfiguration
    /// Whether everything is granted, as in a spec.
    var isGrantedAll = false

    /// The script instance; nil for a native plugin.
    var script: PluginInstance? { if case .script(let instance) = body { instance } else { nil } }

    /// Revokes all but these grants at once.
    mutating func restrict(to grants: [Capability]) {
        configuration.grants.removeAll { old in !grants.contains { $0.covers(old) } }
        script?.context.restrict(to: grants)
    }

    package var source: PluginSource {
        switch body {
        case .script(let instance): instance.source
        case .native(let native): native.type.source
        }
    }

    package var name: String { source.name }

    /// The version given by the author.
    package var release: String {
        switch body {
        case .script(let instance): instance.manifest.version
        case .native(let native): native.type.release
        }
    }

    package var hooks: [HookPhase] {
        let phases =
            switch body {
            case .script(let instance): Set(instance.manifest.hooks.keys)
            case .native(let native): native.type.phases
            }
        return HookPhase.allCases.filter(phases.contains)
    }

    /// The phases in which it has a `fail_closed` hook.
    package var failClosedPhases: Set<HookPhase> {
        switch body {
        case .script(let instance): instance.manifest.failClosedPhases
        case .native(let native): native.type.failClosedPhases
        }
    }

    package var grants: Grants { script?.context.grants ?? Grants() }
    package var routes: [String] { script?.manifest.routes.map { "\($0.method) /plugins/\(name)\($0.path)" } ?? [] }
    package var timers: [String] { script?.manifest.timers.map { "\(CronDescription($0.schedule).text), \($0.timeZone)" } ?? [] }
    package var flows: [String: String] { script?.manifest.flows ?? [:] }
}

/// A configured plugin of which no version is live.
package struct AbsentPlugin: Sendable, Equatable {
    package var name: String
    /// The phases in which it has a `fail_closed` hook.
    package var phases: Set<HookPhase>

    package init(name: String, phases: Set<HookPhase>) {
        self.name = name
        self.phases = phases
    }
}

/// The configuration of a plugin.
package struct PluginConfiguration: Sendable, Equatable {
    package var values: JSON
    package var grants: [Capability]
    /// The configuration file, for errors: `plugins/plugins.yaml`.
    package var file: String

    package init(values: JSON = .null, grants: [Capability] = [], file: String) {
        self.values = values
        self.grants = grants
        self.file = file
    }
}
