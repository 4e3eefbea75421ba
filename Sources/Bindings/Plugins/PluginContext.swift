import Lua
import PushModel
import Synchronization

/// State shared by all calls of one version of a plugin.
final class PluginContext: RunningPlugin {
    let name: String
    /// The first six hexadecimal digits of the hash of its files.
    let version: String
    let services: PluginServices
    /// Set when the plugin has been loaded.
    private let loaded = Mutex<(grants: Grants, config: LuaValue, names: [String])?>(nil)
    private let refused = Mutex<Set<Capability>>([])
    /// Number of outbound requests in progress.
    private let requests = Atomic(0)

    static let maximumRequests = 32

    init(name: String, version: String, services: PluginServices) {
        self.name = name
        self.version = version
        self.services = services
    }

    var grants: Grants { loaded.withLock { $0?.grants } ?? Grants() }
    var config: LuaValue? { loaded.withLock { $0?.config } }

    var keyValues: any KeyValueStore { services.keyValues.space(name) }
    var sleepClock: (any HubClock)? { services.callTracker?.clock }

    func send(_ request: OutboundRequest) async throws -> OutboundResponse {
        let reach = reach
        // Plugins share the host's connections, so the number of requests per plugin is limited.
        guard requests.wrappingAdd(1, ordering: .relaxed).oldValue < Self.maximumRequests else {
            requests.wrappingSubtract(1, ordering: .relaxed)
            throw LuaError.failure(
                "http.busy", "the plugin \(name) has \(Self.maximumRequests) requests in progress",
                hint: "wait for some of them to end")
        }
        defer { requests.wrappingSubtract(1, ordering: .relaxed) }
        do throws(PushError) {
            return try await services.http.send(request, within: reach)
        } catch {
            guard let host = error.details["host"]?.string else { throw error }
            switch error.code {
            case "http.denied": throw denial(of: .http(host: host), for: "push.http")
            case "http.private_address":
                _ = denial(of: .httpPrivate(host: host), for: "push.http")
                throw error
            default: throw error
            }
        }
    }

    /// The hosts that the plugin may send requests to.
    private var reach: OutboundAllowlist {
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
            services.events.onDenial(PluginDenial(plugin: name, version: version, capability: capability, binding: binding))
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
