import PushModel

// Performing one run, from dequeuing to its end.
extension FlowDispatcher {
    func perform(_ queued: RunRecord, _ serial: Int) async {
        var run = queued
        let arguments = confidential[run.number]
        guard let flow = flows[run.flow] else {
            let failure = RunReport.Failure(
                code: "flow.not_found", message: "the flow \(run.flow) is no longer in the settings",
                hint: "list them with pushhost flows")
            return await finish(run, RunResult(state: .failed, failure: failure))
        }
        if let actor = active[run.number]?.cancelledBy {
            return await finish(run, RunResult(state: .cancelled, failure: Self.cancelled(by: actor)))
        }
        (run.state, run.startedAt, run.script) = (.running, clock.now, flow.script)
        run.attempts += 1
        do throws(PushError) {
            // Store before starting: after a crash, the record shows that an at-most-once run had started.
            try await store.update(run)
        } catch {
            if let actor = active[run.number]?.cancelledBy {
                return await finish(queued, RunResult(state: .cancelled, failure: Self.cancelled(by: actor)))
            }
            active[run.number] = nil
            queue.insert(queued, at: 0)
            note(.error, run, "cannot start: \(error.message); retrying")
            return rest()
        }
        active[run.number]?.run = run
        let (start, number) = (start, run.number)
        let monitor = RunMonitor(run.report) { _ = start { await self.keep(number) } }
        active[run.number]?.monitor = monitor
        let order = RunOrder(
            flow: flow, run: run, arguments: arguments?.values ?? self.arguments(of: flow, run.arguments), caller: arguments?.caller)
        var end = await executor.run(order, progress: monitor.take)
        // `stop()` may have given up on this run in the meantime.
        guard active[run.number]?.serial == serial else { return }
        (run.report, run.version) = monitor.state
        let cancelledBy = active[run.number]?.cancelledBy
        if end.state == .cancelled {
            if let cancelledBy {
                end.failure = Self.cancelled(by: cancelledBy)
            } else if isStopping {
                return await leave(run)
            }
        }
        await finish(run, end)
    }

    /// Records the state of a run that the server's shutdown interrupted.
    func leave(_ run: RunRecord) async {
        var run = run
        active[run.number] = nil
        if run.guarantee == .atLeastOnce, run.withheld.isEmpty {
            // This attempt does not count: the run did not cause the shutdown.
            (run.state, run.attempts) = (.queued, run.attempts - 1)
            note(.warning, run, "was interrupted because the server stops; it is repeated at the next start")
        } else {
            (run.state, run.endedAt) = (.interrupted, clock.now)
            run.report.failure = RunReport.Failure(
                code: "run.interrupted", message: "the server was stopped during the run",
                hint: "run it again with pushhost runs rerun \(run.id)")
            meter.ended(run)
            note(.warning, run, "was interrupted because the server stops")
        }
        // If this fails, the next process finds the run as running and recovers it.
        try? await store.update(run)
        resumeWaiters(of: run.number)
    }

    func finish(_ run: RunRecord, _ end: RunResult) async {
        var run = run
        (run.state, run.endedAt) = (end.state, clock.now)
        (run.report.result, run.report.failure) = (end.result, end.failure)
        active[run.number] = nil
        confidential[run.number] = nil
        ending[run.number] = run
        meter.ended(run)
        switch run.state {
        case .failed: note(.error, run, "failed: \(end.failure.map { "\($0.message) (\($0.code))" } ?? "")", at: end.failure?.location)
        case .cancelled: note(.warning, run, end.failure?.message ?? "was cancelled")
        default: note(.info, run, "\(run.state.rawValue): \(run.trigger.words)")
        }
        do throws(PushError) {
            try await store.update(run)
            ending[run.number] = nil
        } catch {
            note(.error, run, "cannot store its end: \(error.message); retrying")
            let number = run.number
            _ = start { await self.storeEnd(number) }
        }
        resumeWaiters(of: run.number)
        pump()
    }

    /// Retries storing the end of a run until it succeeds or the server stops.
    private func storeEnd(_ number: Int64) async {
        while let run = ending[number], !isStopping {
            try? await clock.sleep(until: clock.now + Self.pause)
            do throws(PushError) {
                try await store.update(run)
                ending[number] = nil
            } catch {
                continue
            }
        }
    }

    /// Stores a run's progress.
    private func keep(_ number: Int64) async {
        guard let one = active[number], let monitor = one.monitor, !one.isStoringCheckpoint else { return }
        active[number]?.isStoringCheckpoint = true
        var run = one.run
        (run.report, run.version) = monitor.takeUnstoredProgress()
        // If this fails, the next checkpoint or the end stores the progress.
        try? await store.update(run)
        active[number]?.isStoringCheckpoint = false
        if active[number] != nil, monitor.hasNews { await keep(number) }
    }

    /// Pauses the queue after a run could not be started, then retries.
    func rest() {
        guard !isResting else { return }
        isResting = true
        _ = start {
            try? await self.clock.sleep(until: self.clock.now + Self.pause)
            await self.goOn()
        }
    }

    private func goOn() {
        isResting = false
        pump()
    }
}
