/// What a binding needs that a flow's target may not have.
package enum TargetFeature: Sendable {
    /// Phones that can be looked at and handled.
    case phones
    /// Push services that can be told to fail.
    case faults
    /// Wires on which every exchange can be seen.
    case wires
    /// A clock that can be moved.
    case clock
}
