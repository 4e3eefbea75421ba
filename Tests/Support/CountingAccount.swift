import PushModel
import Synchronization

/// An account with a clock of its own: each piece of work takes one unit. It counts the memory in use.
package final class CountingAccount: WorkAccount {
    private struct State {
        var (time, pieces) = (0, 0)
        var (memory, peak) = (0, 0)
        var canContinue = true
    }

    private let state = Mutex(State())

    package init() {}

    package func threadTime() -> Int {
        state.withLock { state in
            state.time += 1
            return state.time
        }
    }

    package func charge(cpuTime: Int) { state.withLock { if cpuTime > 0 { $0.pieces += 1 } } }

    package func note(memory: Int) {
        state.withLock { state in
            state.memory += memory
            state.peak = max(state.peak, state.memory)
        }
    }

    package func release(memory: Int) { state.withLock { $0.memory -= memory } }

    package var canContinue: Bool { state.withLock { $0.canContinue } }

    /// Spends a budget of the run.
    package func spend() { state.withLock { $0.canContinue = false } }

    /// Number of pieces of work that were charged.
    package var pieces: Int { state.withLock { $0.pieces } }
    /// Bytes in use, now and at most.
    package var memory: (now: Int, peak: Int) { state.withLock { ($0.memory, $0.peak) } }
}
