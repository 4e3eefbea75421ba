import Lua
import PushModel
import Synchronization

/// State shared by all calls of one version of a plugin.
final class PluginContext: Sendable {
    let name: String
    /// The first six hexadecimal digits of the hash of its files.
    let version: String
    let services: PluginServices
    /// Set when the plugin has been loaded.
    private let loaded = Mutex<(grants: Grants, config: LuaValue, names: [String])?>(nil)
    private let refused = Mutex<Set<Capability>>([])
    /// Number of outbound requests in progress.
    let requests = Atomic(0)

    static let maximumRequests = 32

    init(name: String, version: String, services: PluginServices) {
        self.name = name
        self.version = version
        self.services = services
    }

    var grants: Grants { loaded.withLock { $0?.grants } ?? Grants() }
    var config: LuaValue? { loaded.withLock { $0?.config } }

    /// The hosts that the plugin may send requests to.
    var reach: OutboundAllowlist {
        var reach = OutboundAllowlist()
        for capability in grants.effective {
            switch capability {
            case .http(let host): reach.hosts += OutboundHost(host).map { [$0] } ?? []
            case .httpPrivate(let host): reach.privateHosts += OutboundHost(host).map { [$0] } ?? []
            case .hubSend, .hubRead, .hubWrite, .kv, .secret, .native: continue
            }
        }
        return reach
    }

    /// The names of the settings that its schema declares.
    var configNames: [String] { loaded.withLock { $0?.names } ?? [] }

    func loaded(_ grants: Grants, config: LuaValue, names: [String]) { loaded.withLock { $0 = (grants, config, names) } }

    /// Revokes all but these grants, also for calls in progress.
    func restrict(to grants: [Capability]) {
        loaded.withLock { loaded in
            if let old = loaded?.grants { loaded?.grants = old.restricted(to: grants) }
        }
    }

    /// Maximum number of recorded denials. Outside input may determine the hosts that a plugin requests.
    private static let mostRefused = 100

    /// The error for a missing capability. Reports each capability once per version to the audit log.
    func denial(of capability: Capability, for binding: String) -> LuaError {
        if refused.withLock({ $0.count < Self.mostRefused && $0.insert(capability).inserted }) {
            services.onDenial(PluginDenial(plugin: name, version: version, capability: capability, binding: binding))
        }
        let isAskedFor = grants.needs.contains { $0.covers(capability) }
        return .misuse(
            "capability.denied",
            isAskedFor
                ? "the plugin \(name) was not granted \(capability), which \(binding) needs"
                : "the plugin \(name) does not request \(capability), which \(binding) needs",
            hint: isAskedFor
                ? "grant it: pushhost plugin grant \(name) \(capability)"
                : "add \"\(capability)\" to needs in its init.lua, and grant it",
            details: ["capability": .string(capability.description)])
    }
}

/// Services that the host provides to plugins.
package struct PluginServices: Sendable {
    /// The environment of scripts. Its hub is used by calls that belong to no hub.
    package var world: FlowWorld
    /// The hub with a name; nil if there is none.
    package var hub: @Sendable (String) async -> (any HubGateway)?
    package var keyValues: any KeyValueSpaces
    package var http: any OutboundHTTP
    /// The clock for the time limits of calls.
    package var deadlines: any HubClock
    /// Called the first time a plugin uses a capability that it was not granted.
    package var onDenial: @Sendable (PluginDenial) -> Void
    /// Receives messages of plugins and about their failures.
    package var log: @Sendable (PluginMessage) -> Void
    /// Starts work that is not awaited.
    package var start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    package var callTracker: PluginCallTracker?
    /// Called after much memory was freed, which the process may return to the system.
    package var onMemoryFreed: @Sendable () -> Void

    package init(
        world: FlowWorld, hub: @escaping @Sendable (String) async -> (any HubGateway)? = { _ in nil }, keyValues: any KeyValueSpaces,
        http: any OutboundHTTP, deadlines: (any HubClock)? = nil,
        onDenial: @escaping @Sendable (PluginDenial) -> Void = { _ in }, log: @escaping @Sendable (PluginMessage) -> Void,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>, callTracker: PluginCallTracker? = nil,
        onMemoryFreed: @escaping @Sendable () -> Void = {}
    ) {
        self.world = world
        self.hub = hub
        self.keyValues = keyValues
        self.http = http
        self.deadlines = deadlines ?? world.clock
        self.onDenial = onDenial
        self.log = log
        self.start = start
        self.callTracker = callTracker
        self.onMemoryFreed = onMemoryFreed
    }
}

/// Tracks calls of plugins in progress. A lab waits for them before its clock advances.
package struct PluginCallTracker: Sendable {
    package var began: @Sendable () -> Void
    package var ended: @Sendable () -> Void
    /// The clock on which calls sleep. A sleeping call does not hold up the lab's clock.
    package var clock: any HubClock

    package init(began: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void, clock: any HubClock) {
        (self.began, self.ended, self.clock) = (began, ended, clock)
    }
}

extension PluginServices {
    /// The secret with a name as scripts see it; nil if there is none.
    func secret(named name: String, for script: FlowScript) -> LuaValue? {
        let found = try? world.secrets.secret(named: name, for: script)
        return found.flatMap { $0 }.map { .object(LuaObject(type: "secret", payload: $0)) }
    }
}

package struct PluginDenial: Sendable, Equatable {
    package var plugin: String
    package var version: String
    package var capability: Capability
    /// The called function.
    package var binding: String
}

/// A log message from or about a plugin.
package struct PluginMessage: Sendable, Equatable {
    package enum Level: String, Sendable { case info, warn, error }

    /// A change of the plugin's state.
    package enum Change: String, Sendable { case live, ended, refused }

    package var plugin: String
    package var version: String
    /// The call's run; nil if the message is not about a call.
    package var run: String?
    package var level: Level
    package var text: String
    package var location: SourceLocation?
    /// Nil if the state has not changed.
    package var change: Change?

    package init(
        plugin: String, version: String, run: String? = nil, level: Level, text: String, location: SourceLocation? = nil,
        change: Change? = nil
    ) {
        self.plugin = plugin
        self.version = version
        self.run = run
        self.level = level
        self.text = text
        self.location = location
        self.change = change
    }
}
