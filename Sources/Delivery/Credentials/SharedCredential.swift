import PushCore
import Synchronization

/// One credential for all deliveries: whoever first needs a new one obtains it, the others wait for the same.
final class SharedCredential: Sendable {
    typealias Outcome = Result<Credential, Undelivered>

    private struct State {
        var current: Credential?
        var isRenewing = false
        /// Not before this moment is a renewal tried that failed while the old credential serves.
        var nextRenewal: Timestamp?
        var waiters: [CheckedContinuation<Outcome?, Never>] = []
    }

    private enum Step {
        case use(Credential)
        case wait
        case renew(inPlaceOf: Credential?)
    }

    /// Between attempts to renew a credential that still serves.
    private static let pause: Duration = .seconds(30)

    private let state = Mutex(State())

    /// The current credential, if there is one and it is not the one a service has just refused.
    func current(otherThan refused: Credential?) -> Credential? {
        state.withLock { $0.current == refused ? nil : $0.current }
    }

    /// A credential other than `refused`; `obtain` runs when there is none, or when the current one asks for renewal.
    ///
    /// A renewal that takes its time, or fails, is not felt by others as long as the old credential serves.
    func credential(
        otherThan refused: Credential? = nil, now: Timestamp, obtain: () async throws(Undelivered) -> Credential
    ) async throws(Undelivered) -> Credential {
        while true {
            let step = state.withLock { state -> Step in
                let usable = state.current.flatMap { $0 != refused && now < $0.expires ? $0 : nil }
                if let usable, state.isRenewing || now < max(usable.renewal, state.nextRenewal ?? usable.renewal) { return .use(usable) }
                if state.isRenewing { return .wait }
                state.isRenewing = true
                return .renew(inPlaceOf: usable)
            }
            switch step {
            case .use(let credential): return credential
            case .wait:
                if let outcome = await outcomeOfRenewal() { return try outcome.get() }
            case .renew(let old):
                var outcome: Outcome
                do {
                    outcome = .success(try await obtain())
                } catch {
                    outcome = old.map { .success($0) } ?? .failure(Undelivered(verdict: error.verdict, isForAll: true))
                }
                finish(outcome, isCancelled: Task.isCancelled, nextRenewal: outcome == old.map { .success($0) } ? now + Self.pause : nil)
                return try outcome.get()
            }
        }
    }

    /// Nil when there is nothing to wait for any more, or when whoever renewed was cancelled: look again.
    private func outcomeOfRenewal() async -> Outcome? {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isRenewing { state.waiters.append(continuation) }
                return !state.isRenewing
            }
            if isOver { continuation.resume(returning: nil) }
        }
    }

    private func finish(_ outcome: Outcome, isCancelled: Bool, nextRenewal: Timestamp?) {
        let waiters = state.withLock { state in
            if case .success(let credential) = outcome { state.current = credential }
            state.nextRenewal = nextRenewal
            state.isRenewing = false
            defer { state.waiters = [] }
            return state.waiters
        }
        let shared: Outcome? = if case .failure = outcome, isCancelled { nil } else { outcome }
        for waiter in waiters { waiter.resume(returning: shared) }
    }
}
