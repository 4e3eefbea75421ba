package import PushModel
import Synchronization

/// Counts a run's requests in progress. While there are any, virtual time must not advance.
package final class InFlightRequests: Sendable {
    private let state = Mutex((inFlight: 0, startedCount: 0))

    package init() {}

    package var isInFlight: Bool { state.withLock { $0.inFlight > 0 } }

    /// Number of requests started so far.
    var startedCount: Int { state.withLock { $0.startedCount } }

    /// Performs work that waits for a response. It must end on the run's thread, so that the thread then looks for its next work.
    package func during<Answer>(_ work: () async throws(PushError) -> Answer) async throws(PushError) -> Answer {
        state.withLock {
            $0.inFlight += 1
            $0.startedCount += 1
        }
        defer { state.withLock { $0.inFlight -= 1 } }
        return try await work()
    }
}
