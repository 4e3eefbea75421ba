/// A clock that advances in steps, and only while there is no work to do.
package protocol SteppedClock: HubClock {
    /// Advances to the next time for which a task is sleeping. Call it only when there is no work left.
    func step() -> ClockStep

    /// Completes everything that has been started, without advancing the time; returns `.over` when done. Call it only when there is no
    /// work left.
    func settle() -> ClockStep
}

extension VirtualClock: SteppedClock {
    package func step() -> ClockStep { advanceToNextDeadline() ? .woke : .over }

    /// Nothing to complete: on a virtual clock, started work has ended when there is no work left.
    package func settle() -> ClockStep { .over }
}
