import PushCore
import Synchronization

/// Leaves a hook alone that fails: after some failures in a row it is not called for a while, then once to see whether it works again.
package final class HookBreaker: Sendable {
    /// Failures in a row that open it.
    package static let threshold = 5
    package static let firstPause: Duration = .seconds(30)
    package static let longestPause: Duration = .seconds(600)

    private struct State {
        var failures = 0
        var pause: Duration = .zero
        var openUntil: Timestamp?
        var isProbing = false
        /// How often it has opened or closed.
        var turn = 0
    }

    private let state = Mutex(State())

    /// Lets one call through, which says how it went. Of one from before the breaker opened or closed nobody hears anything new.
    struct Admission: Sendable {
        fileprivate let breaker: HookBreaker
        fileprivate let turn: Int

        /// The call was not made, or says nothing of the hook.
        func withdrawn() { _ = breaker.change(self) { $0.isProbing = false } }

        func succeeded() -> News? {
            breaker.change(self) { state in
                let wasOpen = state.openUntil != nil
                state = State(turn: wasOpen ? state.turn + 1 : state.turn)
                return wasOpen ? .closed : nil
            }
        }

        func failed(_ now: Timestamp) -> News? {
            breaker.change(self) { state in
                state.failures += 1
                guard state.openUntil != nil || state.failures >= HookBreaker.threshold else { return nil }
                state.isProbing = false
                state.turn += 1
                state.pause = min(max(state.pause * 2, HookBreaker.firstPause), HookBreaker.longestPause)
                let until = now + state.pause
                state.openUntil = until
                return .opened(until: until)
            }
        }
    }

    enum News: Sendable, Equatable {
        case opened(until: Timestamp)
        case closed
    }

    package init() {}

    /// Until when it is open; nil: calls go through.
    package var openUntil: Timestamp? { state.withLock { $0.openUntil } }

    /// Failures since the last success.
    package var failures: Int { state.withLock { $0.failures } }

    /// Nil: no call may be made now.
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
