import Lua
import PushCore
import Synchronization

/// What all calls of one version of a plugin have in common.
final class PluginContext: Sendable {
    let name: String
    /// The first six digits of the hash of its files.
    let version: String
    let services: PluginServices
    /// Both are known once the plugin has been loaded.
    private let loaded = Mutex<(grants: Grants, config: LuaValue, names: [String])?>(nil)
    private let refused = Mutex<Set<Capability>>([])
    /// To other servers, under way.
    let requests = Atomic(0)

    static let mostRequests = 32

    init(name: String, version: String, services: PluginServices) {
        self.name = name
        self.version = version
        self.services = services
    }

    var grants: Grants { loaded.withLock { $0?.grants } ?? Grants() }
    var config: LuaValue? { loaded.withLock { $0?.config } }

    /// Where its requests may go.
    var reach: OutboundReach {
        var reach = OutboundReach()
        for capability in grants.effective {
            switch capability {
            case .http(let host): reach.hosts += OutboundHost(host).map { [$0] } ?? []
            case .httpPrivate(let host): reach.privateHosts += OutboundHost(host).map { [$0] } ?? []
            case .hubSend, .hubRead, .hubWrite, .kv, .secret, .native: continue
            }
        }
        return reach
    }

    /// What its schema declares.
    var configNames: [String] { loaded.withLock { $0?.names } ?? [] }

    func loaded(_ grants: Grants, config: LuaValue, names: [String]) { loaded.withLock { $0 = (grants, config, names) } }

    /// Takes back what is not among these grants, from calls under way as well.
    func restrict(to grants: [Capability]) {
        loaded.withLock { loaded in
            if let old = loaded?.grants { loaded?.grants = old.restricted(to: grants) }
        }
    }

    /// An outsider may choose the hosts that a plugin asks for.
    private static let mostRefused = 100

    /// Says what is missing, once for each version to the audit trail as well.
    func denial(of capability: Capability, for binding: String) -> LuaError {
        if refused.withLock({ $0.count < Self.mostRefused && $0.insert(capability).inserted }) {
            services.onDenial(PluginDenial(plugin: name, version: version, capability: capability, binding: binding))
        }
        let isAskedFor = grants.needs.contains { $0.covers(capability) }
        return .misuse(
            "capability.denied",
            isAskedFor
                ? "the plugin \(name) was not granted \(capability), which \(binding) needs"
                : "the plugin \(name) does not ask for \(capability), which \(binding) needs",
            hint: isAskedFor
                ? "grant it: pushhost plugin grant \(name) \(capability)"
                : "add \"\(capability)\" to needs in its init.lua, and have it granted",
            details: ["capability": .string(capability.description)])
    }
}

/// What plugins have of their host.
package struct PluginServices: Sendable {
    /// What scripts run against; its hub is that of calls that belong to none.
    package var world: FlowWorld
    /// The hub of a name; nil where there is none.
    package var hub: @Sendable (String) async -> (any HubGateway)?
    package var keyValues: any KeyValueSpaces
    package var http: any OutboundHTTP
    /// How long calls may take is measured by it.
    package var deadlines: any HubClock
    /// A plugin used what it was not granted, for the first time.
    package var onDenial: @Sendable (PluginDenial) -> Void
    /// What plugins write, and what goes wrong with them.
    package var log: @Sendable (PluginMessage) -> Void
    /// Starts work that nobody waits for.
    package var start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    package var attendance: PluginAttendance?
    /// Much memory was freed, which the process may give back to the system.
    package var onRelief: @Sendable () -> Void

    package init(
        world: FlowWorld, hub: @escaping @Sendable (String) async -> (any HubGateway)? = { _ in nil }, keyValues: any KeyValueSpaces,
        http: any OutboundHTTP, deadlines: (any HubClock)? = nil,
        onDenial: @escaping @Sendable (PluginDenial) -> Void = { _ in }, log: @escaping @Sendable (PluginMessage) -> Void,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>, attendance: PluginAttendance? = nil,
        onRelief: @escaping @Sendable () -> Void = {}
    ) {
        self.world = world
        self.hub = hub
        self.keyValues = keyValues
        self.http = http
        self.deadlines = deadlines ?? world.clock
        self.onDenial = onDenial
        self.log = log
        self.start = start
        self.attendance = attendance
        self.onRelief = onRelief
    }
}

/// Who waits until no call of a plugin is under way: a lab, whose time must not go on before what they do is done.
package struct PluginAttendance: Sendable {
    package var began: @Sendable () -> Void
    package var ended: @Sendable () -> Void
    /// What calls sleep on: whoever sleeps is not waited for.
    package var clock: any HubClock

    package init(began: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void, clock: any HubClock) {
        (self.began, self.ended, self.clock) = (began, ended, clock)
    }
}

extension PluginServices {
    /// What a script sees of the secret of a name; nil where there is none.
    func secret(named name: String, for script: FlowScript) -> LuaValue? {
        let found = try? world.secrets.secret(named: name, for: script)
        return found.flatMap { $0 }.map { .object(LuaObject(type: "secret", payload: $0)) }
    }
}

package struct PluginDenial: Sendable, Equatable {
    package var plugin: String
    package var version: String
    package var capability: Capability
    /// The function that was called.
    package var binding: String
}

/// A line of a plugin, or about it.
package struct PluginMessage: Sendable, Equatable {
    package enum Level: String, Sendable { case info, warn, error }

    /// What became of the plugin.
    package enum Change: String, Sendable { case live, ended, refused }

    package var plugin: String
    package var version: String
    /// Nil where it is about no call.
    package var run: String?
    package var level: Level
    package var text: String
    package var location: SourceLocation?
    /// Nil where nothing has.
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
