import NIOHTTP1
package import PushModel

/// Sends requests to another machine, repeats them where useful, and reports failure as a single error.
package struct RemoteClient: Sendable {
    package let connection: RemoteConnection
    /// This machine's clock. The other machine's response time is real time, even in a rehearsal with virtual time.
    package let clock: any HubClock
    package let random: any RandomSource
    package var retry: RequestRetryPolicy
    /// Timeout of a response; nil: the connection's own.
    package var timeout: Duration?
    /// Counts the run's requests in progress.
    package var traffic: InFlightRequests
    /// Called for each attempt with its result, without secrets.
    private let observer: (@Sendable (_ place: String, _ what: String) -> Void)?

    package init(
        connection: RemoteConnection, clock: any HubClock, random: any RandomSource, retry: RequestRetryPolicy = RequestRetryPolicy(),
        traffic: InFlightRequests = InFlightRequests(),
        observer: (@Sendable (_ place: String, _ what: String) -> Void)? = nil
    ) {
        self.connection = connection
        self.clock = clock
        self.random = random
        self.retry = retry
        self.traffic = traffic
        self.observer = observer
    }

    /// A copy of the client that does not repeat requests.
    package var once: RemoteClient {
        var client = self
        client.retry = .none
        return client
    }

    /// Returns the response if its status is below 300.
    ///
    /// A request that is not repeatable is sent again only if it cannot have been executed: the connection failed, or the machine reports
    /// that it did not process it (429, 503).
    ///
    /// - Parameter sign: Adds what differs between attempts, such as a signature.
    /// Throws `target.unreachable`, `target.timeout` or `target.clock`; for a status of 300 or more, the error in the response.
    package func answer(
        _ request: RemoteRequest, sign: (inout RemoteRequest) -> Void = { _ in }
    ) async throws(PushError) -> RemoteAnswer {
        try await traffic.during { () async throws(PushError) in try await repeated(request, sign) }
    }

    private func repeated(_ request: RemoteRequest, _ sign: (inout RemoteRequest) -> Void) async throws(PushError) -> RemoteAnswer {
        var count = 1
        var mayHaveExecuted = false
        while true {
            var signed = request
            sign(&signed)
            let failure: Failure
            switch await attempt(signed, &mayHaveExecuted) {
            case .success(let answer): return answer
            case .failure(let error): failure = error
            }
            guard failure.shouldRetry, let pause = retry.pause(after: count, retryAfter: failure.retryAfter, random), !Task.isCancelled
            else {
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

    /// The failure of an attempt, with whether to repeat it.
    private struct Failure: Error {
        let reason: PushError
        var shouldRetry = false
        /// The wait time requested by the other machine.
        var retryAfter: Duration?

        func error(after attempts: Int) -> PushError {
            var error = reason
            if attempts > 1 { error.details["attempts"] = .integer(Int64(attempts)) }
            return error
        }
    }

    /// - Parameter mayHaveExecuted: Set to true if the machine may have executed a request that must not be executed twice.
    private func attempt(_ request: RemoteRequest, _ mayHaveExecuted: inout Bool) async -> Result<RemoteAnswer, Failure> {
        do throws(ConnectionFailure) {
            let answer = try await connection.exchange(request, timeLimit: timeout)
            observer?(request.target, "\(answer.status)")
            // Redirects are never followed: the object is elsewhere, or the request was executed and its result is elsewhere.
            guard answer.status >= 300 else { return .success(answer) }
            let refusal = RemoteErrorResponse(answer, of: request, now: clock.now)
            if request.isSingular, refusal.mayHaveExecuted { mayHaveExecuted = true }
            return .failure(
                Failure(
                    reason: refusal.error.annotated(mayHaveExecuted),
                    shouldRetry: refusal.isPassing && (request.isRepeatable || refusal.isUnprocessed),
                    retryAfter: refusal.retryAfter))
        } catch {
            observer?(request.target, error.why)
            if request.isSingular, !error.isBeforeRequest { mayHaveExecuted = true }
            return .failure(
                Failure(
                    reason: error.error(of: request, mayHaveExecuted: mayHaveExecuted),
                    shouldRetry: error.isPassing && (request.isRepeatable || error.isBeforeRequest)))
        }
    }
}

extension PushError {
    /// Adds that an earlier attempt may have been executed, in which case the caller must not simply try again.
    fileprivate func annotated(_ mayHaveExecuted: Bool) -> PushError {
        guard mayHaveExecuted else { return self }
        var error = self
        error.details["may_be_done"] = true
        error.hint = ConnectionFailure.checkFirstHint
        error.isRetryable = false
        return error
    }
}
