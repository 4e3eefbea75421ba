/// The result of advancing a clock.
package enum ClockStep: Sendable, Equatable {
    /// A task was woken: there is work again.
    case woke
    /// A result is pending; there will be work when it arrives.
    case inFlight
    /// No task is sleeping, and no result is pending.
    case over
}
