import PushModel

/// The unfinished runs of all flows: queues them, performs them within the limits, and records their ends.
///
/// Part of the dispatcher's state: functions take the dispatcher, on which they and the tasks that they start run.
final class RunPool {
    /// Maximum number of queued runs per flow.
    private static let queueLimit = 1000
    /// The time between attempts to store something.
    static let pause: Duration = .seconds(5)

    private let catalog: FlowCatalog
    private let executor: any FlowExecutor
    private let clock: any HubClock
    /// Starts a task that is not charged to a run.
    private let start: FlowDispatcher.TaskStarter
    /// Starts a task that is charged to the run for which the caller works.
    private let startForRun: FlowDispatcher.TaskStarter
    private let log: FlowLog
    private let metrics = RunMetrics()
    private(set) var store: any AutomationStore

    /// Queued runs of all flows, in order of arrival.
    private var queue: [RunRecord] = []
    private(set) var active: [Int64: ActiveRun] = [:]
    /// Ended runs whose end has not been stored.
    private var ending: [Int64: RunRecord] = [:]
    /// Unstored arguments and callers of unfinished runs, by run number.
    private var confidential: [Int64: PrivateArguments] = [:]
    var waiters = RunWaiters()
    /// Maximum number of concurrent runs of all flows.
    var limit: Int
    private var begun = 0
    /// Whether runs may start: the runs of the previous process have been recovered.
    var hasStarted = false
    var isStopping = false
    /// Whether the queue is paused because a run could not be started.
    private var isBackingOff = false

    init(
        catalog: FlowCatalog, store: any AutomationStore, executor: any FlowExecutor, clock: any HubClock, limit: Int,
        start: @escaping FlowDispatcher.TaskStarter, log: FlowLog
    ) {
        self.catalog = catalog
        self.store = store
        self.executor = executor
        self.clock = clock
        self.limit = limit
        self.start = { work in ChargedWork.withoutRun { start(work) } }
        startForRun = start
        self.log = log
    }

    /// Empties the pool, to continue with another store after all runs have been stopped.
    func restart(with store: any AutomationStore) {
        self.store = store
        (queue, ending, confidential) = ([], [:], [:])
        isStopping = false
    }

    /// Queues or ends a run that had not ended when the previous process did.
    func recover(_ run: RunRecord) async throws(PushError) {
        var run = run
        switch RunRecovery(run) {
        case .queue: queue.append(run)
        case .repeat:
            run.lifecycle.requeue()
            try await store.update(run)
            queue.append(run)
            log.note(.warning, run, "was interrupted when the server ended, and is repeated")
        case .end(let state, let failure):
            run.lifecycle.end(state, at: clock.now)
            run.report.failure = failure
            try await store.update(run)
            metrics.ended(run)
            log.note(.warning, run, failure.message)
        }
    }

    // MARK: - Adding runs

    /// A run that is not stored yet: queued, or skipped if the overlap policy says so and the flow's concurrency is used up.
    ///
    /// - Parameter ahead: number of runs of the flow that are going to be added before this one.
    func draft(of flow: ServedFlow, _ origin: RunOrigin, overlap: OverlapPolicy? = nil, ahead: Int = 0) -> RunRecord {
        let now = clock.now
        var run = RunRecord(
            flow: flow.name, script: flow.script, origin: origin, guarantee: flow.policy.guarantee, lifecycle: RunLifecycle(queuedAt: now))
        let policy = overlap ?? flow.policy.overlap(of: origin.trigger)
        let others = count(of: flow.name) + ahead
        guard policy == .skip, others >= flow.policy.concurrency else { return run }
        run.lifecycle.end(.skipped, at: now)
        run.report.failure = RunReport.Failure(
            code: "run.overlap",
            message: "\(others == 1 ? "another run" : "\(others) runs") of \(flow.name) had not ended",
            hint: "overlap: queue lets runs wait, a higher concurrency lets more run at once")
        return run
    }

    /// Stores runs together with what caused them.
    func add(_ drafts: [RunRecord], _ cause: RunCause) async throws(PushError) -> [AddedRun] {
        let added = try await store.add(drafts, cause)
        for one in added where !one.isRepeated && one.run.state == .skipped {
            metrics.ended(one.run)
            log.note(.warning, one.run, one.run.report.failure?.message ?? "")
        }
        return added
    }

    /// Queues stored runs.
    func enqueue(_ runs: [RunRecord], on dispatcher: isolated FlowDispatcher) {
        for run in runs where run.state == .queued {
            if let flow = catalog[run.flow], flow.policy.overlap(of: run.trigger) == .replace {
                replaceOthers(of: flow, by: run, on: dispatcher)
            }
            queue.append(run)
        }
        startReady(on: dispatcher)
    }

    /// Keeps what must not be stored of a run in memory.
    func keep(_ arguments: PrivateArguments, of run: Int64) { confidential[run] = arguments }

    private func replaceOthers(of flow: ServedFlow, by run: RunRecord, on dispatcher: isolated FlowDispatcher) {
        guard runningCount(of: flow.name) >= flow.policy.concurrency else { return }
        let actor = "\(run.id), which replaces it"
        for other in queue where other.flow == flow.name {
            queue.removeAll { $0.number == other.number }
            _ = start { await dispatcher.finish(other, RunResult(state: .cancelled, failure: Self.cancelled(by: actor))) }
        }
        let going = active.values.filter { $0.run.flow == flow.name && $0.cancelledBy == nil }.sorted { $0.run.number < $1.run.number }
        for other in going.prefix(max(0, going.count - flow.policy.concurrency + 1)) { cancel(other.run.number, by: actor) }
    }

    /// Throws `run.queue_full` (429).
    func checkQueueLimit(_ flow: ServedFlow) throws(PushError) {
        let count = queuedCount(of: flow.name)
        guard count >= Self.queueLimit, (flow.policy.overlap ?? .queue) != .replace else { return }
        throw PushError(
            "run.queue_full", "\(count) runs of \(flow.name) are already queued", hint: "try again later, or raise the flow's concurrency",
            status: 429, isRetryable: true)
    }

    /// Whether the queue can take a run of the flow besides those that are going to be added before it.
    func canQueue(_ flow: ServedFlow, ahead: Int) -> Bool { queuedCount(of: flow.name) + ahead < Self.queueLimit }

    // MARK: - Looking up runs

    /// Number of queued and running runs of a flow.
    func count(of flow: String) -> Int { runningCount(of: flow) + queuedCount(of: flow) }

    private func runningCount(of flow: String) -> Int { active.values.count { $0.run.flow == flow } }

    private func queuedCount(of flow: String) -> Int { queue.count { $0.flow == flow } }

    func isUnfinished(_ number: Int64) -> Bool { active[number] != nil || queue.contains { $0.number == number } }

    /// The state of a run that is in memory.
    func known(_ number: Int64) -> RunRecord? {
        active[number]?.current ?? ending[number] ?? queue.first { $0.number == number }
    }

    /// The in-memory state of a run if there is one, otherwise the stored record.
    func live(_ run: RunRecord) -> RunRecord { known(run.number) ?? run }

    // MARK: - Performing runs

    /// Starts queued runs in order of arrival. A flow at its concurrency limit does not block others.
    func startReady(on dispatcher: isolated FlowDispatcher) {
        guard hasStarted, !isStopping, !isBackingOff else { return }
        var index = 0
        while index < queue.count, active.count < limit {
            let run = queue[index]
            if let flow = catalog[run.flow], runningCount(of: flow.name) >= flow.policy.concurrency {
                index += 1
                continue
            }
            queue.remove(at: index)
            begun += 1
            let serial = begun
            active[run.number] = ActiveRun(serial: serial, run: run)
            let task = start { await dispatcher.perform(run, serial) }
            active[run.number]?.task = task
        }
        dispatcher.resumeEvents()
    }

    func perform(_ queued: RunRecord, _ serial: Int, on dispatcher: isolated FlowDispatcher) async {
        var run = queued
        let arguments = confidential[run.number]
        guard let flow = catalog[run.flow] else {
            let failure = RunReport.Failure(
                code: "flow.not_found", message: "the flow \(run.flow) is no longer in the settings",
                hint: "list them with pushhost flows")
            return await finish(run, RunResult(state: .failed, failure: failure), on: dispatcher)
        }
        if let actor = active[run.number]?.cancelledBy {
            return await finish(run, RunResult(state: .cancelled, failure: Self.cancelled(by: actor)), on: dispatcher)
        }
        run.script = flow.script
        run.lifecycle.start(at: clock.now)
        do throws(PushError) {
            // Store before starting: after a crash, the record shows that an at-most-once run had started.
            try await store.update(run)
        } catch {
            if let actor = active[run.number]?.cancelledBy {
                return await finish(queued, RunResult(state: .cancelled, failure: Self.cancelled(by: actor)), on: dispatcher)
            }
            active[run.number] = nil
            queue.insert(queued, at: 0)
            log.note(.error, run, "cannot start: \(error.message); retrying")
            return backOff(on: dispatcher)
        }
        active[run.number]?.run = run
        let number = run.number
        let monitor = RunMonitor(run.report) { [startForRun] in _ = startForRun { await dispatcher.checkpoint(number) } }
        active[run.number]?.monitor = monitor
        let order = RunOrder(
            flow: flow, run: run, arguments: arguments?.values ?? flow.arguments(run.arguments), caller: arguments?.caller)
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
        await finish(run, end, on: dispatcher)
    }

    /// Stores a run's progress.
    func checkpoint(_ number: Int64) async {
        guard let one = active[number], let monitor = one.monitor, !one.isStoringCheckpoint else { return }
        active[number]?.isStoringCheckpoint = true
        var run = one.run
        (run.report, run.version) = monitor.takeUnstoredProgress()
        // If this fails, the next checkpoint or the end stores the progress.
        try? await store.update(run)
        active[number]?.isStoringCheckpoint = false
        if active[number] != nil, monitor.hasUnstoredProgress { await checkpoint(number) }
    }

    /// Pauses the queue after a run could not be started, then retries.
    private func backOff(on dispatcher: isolated FlowDispatcher) {
        guard !isBackingOff else { return }
        isBackingOff = true
        let clock = clock
        _ = start {
            try? await clock.sleep(until: clock.now + Self.pause)
            await dispatcher.resumeRuns()
        }
    }

    func resume(on dispatcher: isolated FlowDispatcher) {
        isBackingOff = false
        startReady(on: dispatcher)
    }

    // MARK: - Ending runs

    func cancel(_ number: Int64, by actor: String) {
        guard let one = active[number] else { return }
        if one.cancelledBy == nil { active[number]?.cancelledBy = actor }
        one.task?.cancel()
    }

    /// Takes a run out of the queue; nil if it is not queued.
    func dequeue(_ number: Int64) -> RunRecord? {
        queue.firstIndex { $0.number == number }.map { queue.remove(at: $0) }
    }

    static func cancelled(by actor: String) -> RunReport.Failure {
        RunReport.Failure(code: "run.cancelled", message: "it was cancelled by \(actor)")
    }

    /// Records the state of a run that the server's shutdown interrupted.
    func leave(_ run: RunRecord) async {
        var run = run
        active[run.number] = nil
        if run.guarantee == .atLeastOnce, run.withheld.isEmpty {
            // This attempt does not count: the run did not cause the shutdown.
            run.lifecycle.withdrawAttempt()
            log.note(.warning, run, "was interrupted because the server stops; it is repeated at the next start")
        } else {
            run.lifecycle.end(.interrupted, at: clock.now)
            run.report.failure = RunReport.Failure(
                code: "run.interrupted", message: "the server was stopped during the run",
                hint: "run it again with pushhost runs rerun \(run.id)")
            metrics.ended(run)
            log.note(.warning, run, "was interrupted because the server stops")
        }
        // If this fails, the next process finds the run as running and recovers it.
        try? await store.update(run)
        waiters.resumeAll(of: run.number)
    }

    func finish(_ run: RunRecord, _ end: RunResult, on dispatcher: isolated FlowDispatcher) async {
        var run = run
        run.lifecycle.end(end.state, at: clock.now)
        (run.report.result, run.report.failure) = (end.result, end.failure)
        active[run.number] = nil
        confidential[run.number] = nil
        ending[run.number] = run
        metrics.ended(run)
        switch run.state {
        case .failed: log.note(.error, run, "failed: \(end.failure.map { "\($0.message) (\($0.code))" } ?? "")", at: end.failure?.location)
        case .cancelled: log.note(.warning, run, end.failure?.message ?? "was cancelled")
        default: log.note(.info, run, "\(run.state.rawValue): \(run.trigger.words)")
        }
        do throws(PushError) {
            try await store.update(run)
            ending[run.number] = nil
        } catch {
            log.note(.error, run, "cannot store its end: \(error.message); retrying")
            let number = run.number
            _ = start { await dispatcher.storeEnd(number) }
        }
        waiters.resumeAll(of: run.number)
        startReady(on: dispatcher)
    }

    /// Retries storing the end of a run until it succeeds or the server stops.
    func storeEnd(_ number: Int64) async {
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
}
