/// A clock that stands still while somebody works and goes on in steps: whoever has nothing left to do asks for the next one.
package protocol SteppedClock: HubClock {
    /// To be called when nobody has work: goes on to the next moment that somebody waits for.
    func step() -> ClockStep

    /// To be called when nobody has work: lets everything come to its end that has begun, without time going by. `.over` when it
    /// has.
    func settle() -> ClockStep
}

/// What came of asking a clock to go on.
package enum ClockStep: Sendable, Equatable {
    /// Somebody woke: there is work again.
    case woke
    /// Something is on its way; there will be work when it arrives.
    case underWay
    /// Nobody waits for any moment, and nothing is on its way.
    case over
}

extension VirtualClock: SteppedClock {
    package func step() -> ClockStep { advanceToNextSleeper() ? .woke : .over }

    /// What has begun has ended when nobody has work.
    package func settle() -> ClockStep { .over }
}
