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
    }

    private let state = Mutex(State())

    enum News: Sendable, Equatable {
        case opened(until: Timestamp)
        case closed
    }

    package init() {}

    /// Until when it is open; nil: calls go through.
    package var openUntil: Timestamp? { state.withLock { $0.openUntil } }

    /// Failures since the last success.
    package var failures: Int { state.withLock { $0.failures } }

    /// Whether a call may be made now; whoever is let through says how it went.
    func admits(_ now: Timestamp) -> Bool {
        state.withLock { state in
            guard let until = state.openUntil else { return true }
            guard until <= now, !state.isProbing else { return false }
            state.isProbing = true
            return true
        }
    }

    /// A call that was admitted was not made, or says nothing of the hook.
    func withdrawn() { state.withLock { $0.isProbing = false } }

    func succeeded() -> News? {
        state.withLock { state in
            // Of calls that were under way when it opened nobody hears anything new.
            guard state.openUntil == nil || state.isProbing else { return nil }
            defer { state = State() }
            return state.openUntil == nil ? nil : .closed
        }
    }

    func failed(_ now: Timestamp) -> News? {
        state.withLock { state in
            state.failures += 1
            // Of calls that were under way when it opened nobody hears anything new.
            guard state.openUntil == nil ? state.failures >= Self.threshold : state.isProbing else { return nil }
            state.isProbing = false
            state.pause = min(max(state.pause * 2, Self.firstPause), Self.longestPause)
            let until = now + state.pause
            state.openUntil = until
            return .opened(until: until)
        }
    }
}
