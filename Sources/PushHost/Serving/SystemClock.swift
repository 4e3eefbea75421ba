import FoundationEssentials
import PushCore

/// The wall clock of the machine, for what is served.
struct SystemClock: HubClock {
    var now: Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }

    /// Never early; late by at most a minute where somebody sets the clock forward.
    func sleep(until deadline: Timestamp) async throws {
        try Task.checkCancellation()
        var now = now
        while now < deadline {
            try await Task.sleep(for: min(deadline - now, .seconds(60)))
            now = self.now
        }
    }

    var steady: any HubClock { SteadyClock.shared }
}

/// The time of the process: where it began on the wall clock, and what has passed since.
struct SteadyClock: HubClock {
    static let shared = SteadyClock()

    private let first = SystemClock().now
    private let start = ContinuousClock.now

    var now: Timestamp { first + (ContinuousClock.now - start) }

    func sleep(until deadline: Timestamp) async throws {
        try Task.checkCancellation()
        // Timestamps are whole milliseconds: never early.
        while case let rest = deadline - now, rest > .zero { try await Task.sleep(for: rest) }
    }
}
