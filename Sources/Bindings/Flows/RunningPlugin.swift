import Lua
import PushModel

/// The parts of a plugin that the functions of the module may use while a function of the plugin runs.
protocol RunningPlugin: AnyObject, Sendable {
    var name: String { get }
    var grants: Grants { get }
    /// The checked configuration; nil until the plugin is loaded.
    var config: LuaValue? { get }
    /// The names of the settings that its schema declares.
    var configNames: [String] { get }
    /// The plugin's own key space.
    var keyValues: any KeyValueStore { get }
    /// The clock on which its calls sleep; nil for that of the world.
    var sleepClock: (any HubClock)? { get }

    /// The error for a missing capability.
    func denial(of capability: Capability, for binding: String) -> LuaError

    /// Sends an HTTP request within the grants. Throws `http.*` and `capability.denied`.
    func send(_ request: OutboundRequest) async throws -> OutboundResponse
}

extension CallConditions {
    /// Throws `phase.not_allowed`, or `capability.denied` if a plugin lacks the capability. `binding` is the name of the called function.
    func check(_ binding: String, in phase: ScriptPhase, for plugin: (any RunningPlugin)?) throws(LuaError) {
        guard phases.contains(phase) else { throw .phase(phase, of: binding, allowed: phases) }
        guard let plugin, let kind = capability, !plugin.grants.allows(kind) else { return }
        switch kind {
        case .hubSend: throw plugin.denial(of: .hubSend, for: binding)
        case .hubRead: throw plugin.denial(of: .hubRead, for: binding)
        case .hubWrite: throw plugin.denial(of: .hubWrite, for: binding)
        case .kv: throw plugin.denial(of: .kv, for: binding)
        // These depend on a host, name or namespace and are checked by the binding.
        case .http, .secret, .native: return
        }
    }
}

extension LuaError {
    fileprivate static func phase(_ phase: ScriptPhase, of binding: String, allowed phases: Set<ScriptPhase>) -> LuaError {
        let allowed = ScriptPhase.allCases.filter(phases.contains).map(\.name)
        let place =
            switch phase {
            case .flow: "in a flow"
            case .load: "while the plugin is being loaded"
            case .hook, .onceKept, .route, .timer: "in \(phase.name)"
            }
        return .misuse(
            "phase.not_allowed", "\(binding) cannot be called \(place)", hint: "allowed in \(allowed.joined(separator: ", "))",
            details: ["phase": .string(phase.name), "allowed": .table(LuaTable(array: allowed.map(LuaValue.string)))])
    }
}
