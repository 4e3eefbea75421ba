/// The conditions under which a function of the module may be called. `FlowRun.admit` checks them before each call.
package struct CallConditions: Sendable {
    /// Phases in which it may be called. In other phases it raises `phase.not_allowed`.
    package var phases: Set<ScriptPhase>
    /// The capability that a plugin needs for it.
    package var capability: Capability.Kind?
    /// A feature that the target must have. Without it the call raises `target.unsupported`.
    package var needs: TargetFeature?

    /// Conditions for these phases; flows only, if none are given.
    package static func `in`(
        _ phases: Set<ScriptPhase> = [.flow], capability: Capability.Kind? = nil, needs: TargetFeature? = nil
    ) -> CallConditions {
        CallConditions(phases: phases, capability: capability, needs: needs)
    }
}
