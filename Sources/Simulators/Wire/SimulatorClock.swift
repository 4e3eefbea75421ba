/// The clock of simulators and phones.
package struct SimulatorClock: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var now: @Sendable () -> Int64

    package init(now: @escaping @Sendable () -> Int64) {
        self.now = now
    }
}

extension SimulatorClock {
    /// Whole seconds since 1970, the unit of tokens and expiry headers.
    var seconds: Int64 { now() / 1000 }
}
