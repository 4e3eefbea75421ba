package import PushModel
import Synchronization

/// A circuit breaker for a hook. After repeated failures it blocks calls for a while, then allows one call as a probe.
package final class HookCircuitBreaker: Sendable {
    /// Number of consecutive failures that open the breaker.
    package static let threshold = 5
    package static let firstPause: Duration = .seconds(30)
    package static let longestPause: Duration = .seconds(600)

    private struct State {
        var failures = 0
        var pause: Duration = .zero
        var openUntil: Timestamp?
        var isProbing = false
        /// Incremented whenever the breaker opens or closes.
        var turn = 0
    }

    private let state = Mutex(State())

    /// Permission for one call, which must report its result. Results from before the last change of the breaker are ignored.
    struct Admission: Sendable {
        fileprivate let breaker: HookCircuitBreaker
        fileprivate let turn: Int

        /// Reports that the call was not made, or that its result does not concern the hook.
        func withdrawn() { _ = breaker.change(self) { $0.isProbing = false } }

        func succeeded() -> Event? {
            breaker.change(self) { state in
                let wasOpen = state.openUntil != nil
                state = State(turn: wasOpen ? state.turn + 1 : state.turn)
                return wasOpen ? .closed : nil
            }
        }

        func failed(_ now: Timestamp) -> Event? {
            breaker.change(self) { state in
                state.failures += 1
                guard state.openUntil != nil || state.failures >= HookCircuitBreaker.threshold else { return nil }
                state.isProbing = false
                state.turn += 1
                state.pause = min(max(state.pause * 2, HookCircuitBreaker.firstPause), HookCircuitBreaker.longestPause)
                let until = now + state.pause
                state.openUntil = until
                return .opened(until: until)
            }
        }
    }

    enum Event: Sendable, Equatable {
        case opened(until: Timestamp)
        case closed
    }

    package init() {}

    /// The end of the pause while the breaker is open; nil if it is closed.
    package var openUntil: Timestamp? { state.withLock { $0.openUntil } }

    /// Number of failures since the last success.
    package var failures: Int { state.withLock { $0.failures } }

    /// Returns permission for a call, or nil if the breaker is open.
    func admission(_ now: Timestamp) -> Admission? {
        state.withLock { state in
            if let until = state.openUntil {
                guard until <= now, !state.isProbing else { return nil }
                state.isProbing = true
                state.turn += 1
            }
            return Admission(breaker: self, turn: state.turn)
        }
    }

    private func change<Answer>(_ admission: Admission, _ body: (inout State) -> Answer?) -> Answer? {
        state.withLock { $0.turn == admission.turn ? body(&$0) : nil }
    }
}
