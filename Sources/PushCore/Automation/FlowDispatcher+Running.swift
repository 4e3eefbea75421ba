// One run, from its turn to its end.
extension FlowDispatcher {
    func perform(_ queued: RunRecord, _ serial: Int) async {
        var run = queued
        let arguments = confidential[run.number]
        guard let flow = flows[run.flow] else {
            let failure = RunReport.Failure(
                code: "flow.not_found", message: "the flow \(run.flow) is gone from the settings",
                hint: "pushhost flows lists those there are")
            return await finish(run, RunEnd(state: .failed, failure: failure))
        }
        if let actor = active[run.number]?.cancelledBy {
            return await finish(run, RunEnd(state: .cancelled, failure: Self.cancelled(by: actor)))
        }
        (run.state, run.startedAt, run.script) = (.running, clock.now, flow.script)
        run.attempts += 1
        do throws(PushError) {
            // First kept, then begun: a run that may not be begun twice is known to have begun.
            try await store.update(run)
        } catch {
            if let actor = active[run.number]?.cancelledBy {
                return await finish(queued, RunEnd(state: .cancelled, failure: Self.cancelled(by: actor)))
            }
            active[run.number] = nil
            queue.insert(queued, at: 0)
            note(.error, run, "cannot begin: \(error.message); it is tried again")
            return rest()
        }
        active[run.number]?.run = run
        let (start, number) = (start, run.number)
        let monitor = RunMonitor(run.report) { _ = start { await self.keep(number) } }
        active[run.number]?.monitor = monitor
        let order = RunOrder(
            flow: flow, run: run, arguments: arguments?.values ?? self.arguments(of: flow, run.arguments), caller: arguments?.caller)
        var end = await executor.run(order, progress: monitor.take)
        // The server may have stopped without it.
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

    /// The server stops while a run is under way.
    func leave(_ run: RunRecord) async {
        var run = run
        active[run.number] = nil
        if run.guarantee == .atLeastOnce, run.withheld.isEmpty {
            // It did not come to its end, and is not what ended the server.
            (run.state, run.attempts) = (.queued, run.attempts - 1)
            note(.warning, run, "is put off: the server stops; it is begun again at the next start")
        } else {
            (run.state, run.endedAt) = (.interrupted, clock.now)
            run.report.failure = RunReport.Failure(
                code: "run.interrupted", message: "the server was stopped while the run was under way",
                hint: "pushhost runs rerun \(run.id) begins it again")
            meter.ended(run)
            note(.warning, run, "was interrupted: the server stops")
        }
        // What cannot be kept now is found as it was: under way.
        try? await store.update(run)
        wakeWaiters(of: run.number)
    }

    func finish(_ run: RunRecord, _ end: RunEnd) async {
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
            note(.error, run, "its end is not kept yet: \(error.message)")
            let number = run.number
            _ = start { await self.keepEnd(number) }
        }
        wakeWaiters(of: run.number)
        pump()
    }

    /// Until it is kept, or the server stops.
    private func keepEnd(_ number: Int64) async {
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

    /// Keeps how far a run is.
    private func keep(_ number: Int64) async {
        guard let one = active[number], let monitor = one.monitor, !one.isKeeping else { return }
        active[number]?.isKeeping = true
        var run = one.run
        (run.report, run.version) = monitor.takeNews()
        // What cannot be kept now is kept with the next step, or the end.
        try? await store.update(run)
        active[number]?.isKeeping = false
        if active[number] != nil, monitor.hasNews { await keep(number) }
    }

    /// What could not begin is tried again in a while.
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
