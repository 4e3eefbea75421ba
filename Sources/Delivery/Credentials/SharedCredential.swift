import PushModel
import Synchronization

/// A credential shared by all deliveries. The first one that needs a new credential obtains it; the others wait for the result.
final class SharedCredential: Sendable {
    typealias Outcome = Result<Credential, DeliveryFailure>

    private struct State {
        var current: Credential?
        var isRenewing = false
        /// Earliest time for the next attempt, after a renewal failed while the old credential is still valid.
        var nextRenewal: Timestamp?
        var waiters: [CheckedContinuation<Outcome?, Never>] = []
    }

    private enum Step {
        case use(Credential)
        case wait
        case renew(inPlaceOf: Credential?)
    }

    /// Pause between attempts to renew a credential that is still valid.
    private static let pause: Duration = .seconds(30)

    private let state = Mutex(State())

    /// The current credential; `nil` if there is none, or if it is the one that a service has just rejected.
    func current(otherThan refused: Credential?) -> Credential? {
        state.withLock { $0.current == refused ? nil : $0.current }
    }

    /// Returns a credential other than `refused`. Calls `obtain` if there is none, or if the current one is due for renewal.
    ///
    /// While the old credential is valid, a slow or failing renewal does not affect other callers.
    func credential(
        otherThan refused: Credential? = nil, now: Timestamp, obtain: () async throws(DeliveryFailure) -> Credential
    ) async throws(DeliveryFailure) -> Credential {
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
                    outcome = old.map { .success($0) } ?? .failure(DeliveryFailure(verdict: error.verdict, isForAll: true))
                }
                finish(outcome, isCancelled: Task.isCancelled, nextRenewal: outcome == old.map { .success($0) } ? now + Self.pause : nil)
                return try outcome.get()
            }
        }
    }

    /// Waits for the renewal. Returns `nil` if none is running, or if the task that renewed was cancelled; the caller then retries.
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
