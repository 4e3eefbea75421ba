import PushModel
import Synchronization

/// Counts a run's requests in progress. While there are any, virtual time must not advance.
package final class InFlightRequests: Sendable {
    private let state = Mutex((underWay: 0, begun: 0))

    package init() {}

    package var isUnderWay: Bool { state.withLock { $0.underWay > 0 } }

    /// Number of requests started so far.
    var begun: Int { state.withLock { $0.begun } }

    /// Performs work that waits for a response. It must end on the run's thread, so that the thread then looks for its next work.
    package func during<Answer>(_ work: () async throws(PushError) -> Answer) async throws(PushError) -> Answer {
        state.withLock {
            $0.underWay += 1
            $0.begun += 1
        }
        defer { state.withLock { $0.underWay -= 1 } }
        return try await work()
    }
}
