import PushModel

// Cancelling runs, and waiting for them to end.
extension FlowDispatcher {
    /// Cancels an unfinished run and returns once its end is recorded. Throws `run.not_found` (404) and `run.ended` (409).
    package func cancel(_ id: String, by actor: String) async throws(PushError) -> RunRecord {
        let run = try await run(id)
        guard !run.state.isFinal else {
            throw PushError(
                "run.ended", "\(id) has already ended: \(run.state.rawValue)", hint: "see pushhost runs show \(id)", status: 409)
        }
        if let place = queue.firstIndex(where: { $0.number == run.number }) {
            let queued = queue.remove(at: place)
            await finish(queued, RunResult(state: .cancelled, failure: Self.cancelled(by: actor)))
        } else {
            cancel(run.number, by: actor)
            await finished(run.number)
        }
        return try await self.run(id)
    }

    func cancel(_ number: Int64, by actor: String) {
        guard let one = active[number] else { return }
        if one.cancelledBy == nil { active[number]?.cancelledBy = actor }
        one.task?.cancel()
    }

    static func cancelled(by actor: String) -> RunReport.Failure {
        RunReport.Failure(code: "run.cancelled", message: "it was cancelled by \(actor)")
    }

    /// Waits until the run has ended, the server stops or `time` has passed on the hub's steady clock.
    package func finished(_ number: Int64, within time: Duration? = nil) async {
        guard isUnfinished(number), !isStopping else { return }
        waiters += 1
        let waiter = waiters
        let patience = time.map { time in
            let deadline = clock.steady.now + time
            return start {
                guard (try? await self.clock.steady.sleep(until: deadline)) != nil else { return }
                await self.give(up: waiter, of: number)
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting[number, default: [:]][waiter] = $0 }
        } onCancel: {
            Task { await self.give(up: waiter, of: number) }
        }
        patience?.cancel()
    }

    private func give(up waiter: Int, of number: Int64) {
        let continuation = waiting[number]?.removeValue(forKey: waiter)
        continuation?.resume()
    }

    func resumeWaiters(of number: Int64) {
        for continuation in (waiting.removeValue(forKey: number) ?? [:]).values { continuation.resume() }
    }

    private func isUnfinished(_ number: Int64) -> Bool { active[number] != nil || queue.contains { $0.number == number } }
}
