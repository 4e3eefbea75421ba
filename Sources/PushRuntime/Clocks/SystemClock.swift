import FoundationEssentials
package import PushModel

/// The wall clock, which servers use.
package struct SystemClock: HubClock {
    package init() {}

    package var now: Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }

    /// Sleeps until `deadline`: never too short, and at most a minute too long if the clock is set forward.
    package func sleep(until deadline: Timestamp) async throws {
        try Task.checkCancellation()
        var now = now
        while now < deadline {
            try await Task.sleep(for: min(deadline - now, .seconds(60)))
            now = self.now
        }
    }

    package var steady: any HubClock { SteadyClock.shared }
}

/// A monotonic clock: the wall time at process start plus the elapsed time.
package struct SteadyClock: HubClock {
    package static let shared = SteadyClock()

    private let first = SystemClock().now
    private let start = ContinuousClock.now

    package var now: Timestamp { first + (ContinuousClock.now - start) }

    package func sleep(until deadline: Timestamp) async throws {
        try Task.checkCancellation()
        // Repeat, because timestamps are rounded down to milliseconds and the sleep must not end early.
        while case let rest = deadline - now, rest > .zero { try await Task.sleep(for: rest) }
    }
}
