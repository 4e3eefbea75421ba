import PushModel
import Synchronization

/// A clock on which waiting ends immediately; it records the duration of each wait.
final class RecordingClock: HubClock {
    private struct State {
        var now: Timestamp
        var waits: [Duration] = []
    }

    private let state: Mutex<State>

    init(now: Timestamp) { state = Mutex(State(now: now)) }

    var now: Timestamp { state.withLock { $0.now } }
    var waits: [Duration] { state.withLock { $0.waits } }

    func sleep(until deadline: Timestamp) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.waits.append(deadline - state.now)
            state.now = max(state.now, deadline)
        }
    }
}
