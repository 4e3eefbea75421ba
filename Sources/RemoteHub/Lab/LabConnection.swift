import PushCore
import Synchronization

/// Carries requests to the lab of a server.
package protocol LabConnection: Sendable {
    /// Sends a request with the lab's key, and answers the JSON that came back; null for an answer without a body.
    ///
    /// `path` begins with `/lab/` and is encoded. Throws what the server said, with its code and hint, or that it cannot be reached.
    func call(_ method: String, _ path: String, _ body: JSON?) async throws(PushError) -> JSON
}

/// What a run has asked others for and waits for. As long as there is some, time must not go on.
package final class RunTraffic: Sendable {
    private let state = Mutex((underWay: 0, begun: 0))

    package init() {}

    package var isUnderWay: Bool { state.withLock { $0.underWay > 0 } }

    /// How much has been asked for so far.
    var begun: Int { state.withLock { $0.begun } }

    /// Does work that waits for an answer. It must end on the thread of the run, so that the thread then looks what to do next.
    package func during<Answer>(_ work: () async throws(PushError) -> Answer) async throws(PushError) -> Answer {
        state.withLock {
            $0.underWay += 1
            $0.begun += 1
        }
        defer { state.withLock { $0.underWay -= 1 } }
        return try await work()
    }
}
