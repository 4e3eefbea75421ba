import PushModel
import Synchronization

/// An account with a clock of its own: each piece of work takes one unit.
package final class CountingAccount: WorkAccount {
    private let state = Mutex((time: 0, pieces: 0))

    package init() {}

    package func threadTime() -> Int {
        state.withLock { state in
            state.time += 1
            return state.time
        }
    }

    package func charge(cpuTime: Int) { state.withLock { if cpuTime > 0 { $0.pieces += 1 } } }

    /// Number of pieces of work that were charged.
    package var pieces: Int { state.withLock { $0.pieces } }
}
