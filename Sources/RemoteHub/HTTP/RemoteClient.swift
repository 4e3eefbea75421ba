import NIOHTTP1
import PushCore

/// Asks another machine as often as it is worth it, and says in one error why it did not work.
package struct RemoteClient: Sendable {
    package let connection: RemoteConnection
    /// Of this machine: what the other one takes is measured in real time, whatever time a rehearsal has.
    package let clock: any HubClock
    package let random: any RandomSource
    package var retry: RetryPolicy
    /// For an answer, where that is not the connection's own.
    package var patience: Duration?
    /// Knows what is under way for the run.
    package var traffic: RunTraffic
    /// Told of each attempt and how it ended, in words without secrets.
    private let observer: (@Sendable (_ place: String, _ what: String) -> Void)?

    package init(
        connection: RemoteConnection, clock: any HubClock, random: any RandomSource, retry: RetryPolicy = RetryPolicy(),
        traffic: RunTraffic = RunTraffic(),
        observer: (@Sendable (_ place: String, _ what: String) -> Void)? = nil
    ) {
        self.connection = connection
        self.clock = clock
        self.random = random
        self.retry = retry
        self.traffic = traffic
        self.observer = observer
    }

    /// The same, which asks once.
    package var once: RemoteClient {
        var client = self
        client.retry = .none
        return client
    }

    /// The answer, with a status below 400.
    ///
    /// A request that is not repeatable is made again only where it cannot have been done: nobody took the connection, or the
    /// machine says that it has not looked at it (429, 503).
    ///
    /// - Parameter sign: adds what is different at each attempt.
    /// Throws `target.unreachable`, `target.timeout`, `target.clock`, and for an answer of 400 and more what it says.
    package func answer(
        _ request: RemoteRequest, sign: (inout RemoteRequest) -> Void = { _ in }
    ) async throws(PushError) -> RemoteAnswer {
        try await traffic.during { () async throws(PushError) in try await repeated(request, sign) }
    }

    private func repeated(_ request: RemoteRequest, _ sign: (inout RemoteRequest) -> Void) async throws(PushError) -> RemoteAnswer {
        var count = 1
        var mayBeDone = false
        while true {
            var signed = request
            sign(&signed)
            let failure: Failure
            switch await attempt(signed, &mayBeDone) {
            case .success(let answer): return answer
            case .failure(let error): failure = error
            }
            guard failure.isWorthRepeating, let pause = retry.pause(after: count, asked: failure.asked, random), !Task.isCancelled else {
                throw failure.error(after: count)
            }
            do {
                try await clock.sleep(until: clock.now + pause)
            } catch {
                throw failure.error(after: count)
            }
            count += 1
        }
    }

    /// Why an attempt did not work, and whether another one may.
    private struct Failure: Error {
        let reason: PushError
        var isWorthRepeating = false
        /// How long to wait, as the other side says.
        var asked: Duration?

        func error(after attempts: Int) -> PushError {
            var error = reason
            if attempts > 1 { error.details["attempts"] = .integer(Int64(attempts)) }
            return error
        }
    }

    /// - Parameter mayBeDone: becomes true where the machine may have carried out what must not be done twice.
    private func attempt(_ request: RemoteRequest, _ mayBeDone: inout Bool) async -> Result<RemoteAnswer, Failure> {
        do throws(ConnectionFailure) {
            let answer = try await connection.exchange(request, patience: patience)
            observer?(request.place, "\(answer.status)")
            // A redirect is followed by nobody: what was asked for is elsewhere, or has been done and is shown elsewhere.
            guard answer.status >= 300 else { return .success(answer) }
            let refusal = RemoteRefusal(answer, of: request, now: clock.now)
            if request.isSingular, refusal.mayBeDone { mayBeDone = true }
            return .failure(
                Failure(
                    reason: refusal.error.told(mayBeDone),
                    isWorthRepeating: refusal.isPassing && (request.isRepeatable || refusal.isUntouched),
                    asked: refusal.retryAfter))
        } catch {
            observer?(request.place, error.why)
            if request.isSingular, !error.isBeforeRequest { mayBeDone = true }
            return .failure(
                Failure(
                    reason: error.error(of: request, mayBeDone: mayBeDone),
                    isWorthRepeating: error.isPassing && (request.isRepeatable || error.isBeforeRequest)))
        }
    }
}

extension PushError {
    /// With whether the request may have been carried out, at an attempt before; then its caller must not simply try again.
    fileprivate func told(_ mayBeDone: Bool) -> PushError {
        guard mayBeDone else { return self }
        var error = self
        error.details["may_be_done"] = true
        error.hint = ConnectionFailure.lookFirst
        error.isRetryable = false
        return error
    }
}
