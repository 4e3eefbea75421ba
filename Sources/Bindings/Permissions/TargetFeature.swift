/// A feature that a binding needs and a flow's target may lack.
package enum TargetFeature: Sendable {
    /// Simulated devices that a script can inspect and operate.
    case phones
    /// Push services with failures that a script can set.
    case faults
    /// Requests to push services that a script can inspect.
    case wires
    /// A clock that a script can move.
    case clock
}
