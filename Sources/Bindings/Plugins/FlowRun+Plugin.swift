import Lua
import PushModel

// Permission checks of a run.
extension FlowRun {
    /// The run attached to a call, otherwise this one.
    func attached(_ attachment: (any AnyObject & Sendable)?) -> FlowRun { attachment as? FlowRun ?? self }

    func attached(_ site: LuaCallSite) -> FlowRun { attached(site.attachment) }

    /// Throws `phase.not_allowed`, or `capability.denied` if a plugin lacks the capability.
    func permit(_ binding: Binding) throws(LuaError) {
        guard binding.phases.contains(phase) else { throw .phase(phase, of: binding) }
        guard let plugin, let kind = binding.capability, !plugin.grants.allows(kind) else { return }
        switch kind {
        case .hubSend: throw plugin.denial(of: .hubSend, for: binding.name)
        case .hubRead: throw plugin.denial(of: .hubRead, for: binding.name)
        case .hubWrite: throw plugin.denial(of: .hubWrite, for: binding.name)
        case .kv: throw plugin.denial(of: .kv, for: binding.name)
        // These depend on a host, name or namespace and are checked by the binding.
        case .http, .secret, .native: return
        }
    }

    /// Throws `capability.denied` if a plugin lacks the capability.
    func demand(_ capability: Capability, for binding: String) throws(LuaError) {
        guard let plugin, !plugin.grants.allows(capability) else { return }
        throw plugin.denial(of: capability, for: binding)
    }
}

extension LuaError {
    fileprivate static func phase(_ phase: ScriptPhase, of binding: Binding) -> LuaError {
        let allowed = ScriptPhase.allCases.filter(binding.phases.contains).map(\.name)
        let place =
            switch phase {
            case .flow: "in a flow"
            case .load: "while the plugin is being loaded"
            case .hook, .onceKept, .route, .timer: "in \(phase.name)"
            }
        return .misuse(
            "phase.not_allowed", "\(binding.name) cannot be called \(place)", hint: "allowed in \(allowed.joined(separator: ", "))",
            details: ["phase": .string(phase.name), "allowed": .table(LuaTable(array: allowed.map(LuaValue.string)))])
    }
}
