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
}
