import PushModel

/// Starts a server's flows when their triggers fire, and records the results of their runs.
///
/// A trigger is stored before its run starts, so the next process finds every requested run. Whether an interrupted run is repeated
/// depends on the flow's `RunGuarantee`.
package actor FlowDispatcher {
    private(set) var store: any RunStore
    let executor: any FlowExecutor
    let clock: any HubClock
    let zones: any TimeZoneSource
    let events: HubEvents
    let meter = RunMeter()
    let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    let tell: @Sendable (FlowLogEntry) -> Void

    /// Flows by name.
    var flows: [String: ServedFlow] = [:]
    /// Schedules by name.
    var schedules: [String: StoredSchedule] = [:]
    /// For each flow, the configured arguments that its script declares secret. They are never stored.
    var secretNames: [String: Set<String>] = [:]
    /// Queued runs of all flows, in order of arrival.
    var queue: [RunRecord] = []
    var active: [Int64: ActiveRun] = [:]
    /// Ended runs whose end has not been stored.
    var ending: [Int64: RunRecord] = [:]
    /// Unstored arguments and callers of unfinished runs, by run number.
    var confidential: [Int64: PrivateArguments] = [:]
    var waiting: [Int64: [Int: CheckedContinuation<Void, Never>]] = [:]
    var waiters = 0
    /// Maximum number of concurrent runs of all flows.
    var limit: Int
    var isStopping = false
    /// The task that ends all runs; nil until `stop()`.
    private var stopping: Task<Void, Never>?
    private var begun = 0
    var hasBegun = false
    var alarm: Task<Void, Never>?
    var isStartingDueRuns = false
    var isProcessingEvents = false
    var hasMoreEvents = false
    /// Whether the queue is paused because a run could not be started.
    var isResting = false

    /// Maximum number of queued runs per flow.
    static let queueLimit = 1000
    /// A run that was interrupted this many times is not repeated: it may be what crashes the server.
    static let maximumAttempts = 5
    static let pause: Duration = .seconds(5)
    /// Time limit for runs to end at shutdown. A script's cleanup takes at most 5 s; the rest is for calls that do not return.
    package static let stopTime: Duration = .seconds(10)

    /// - Parameter limit: maximum number of concurrent runs of all flows.
    package init(
        store: any RunStore, executor: any FlowExecutor, clock: any HubClock, zones: any TimeZoneSource, events: HubEvents = HubEvents(),
        limit: Int = 16,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>,
        tell: @escaping @Sendable (FlowLogEntry) -> Void = { _ in }
    ) {
        self.store = store
        self.executor = executor
        self.clock = clock
        self.zones = zones
        self.events = events
        self.limit = limit
        self.start = start
        self.tell = tell
    }

    // MARK: - Starting and stopping

    /// Recovers the runs of the previous process, then starts to accept triggers.
    package func begin(_ flows: [ServedFlow]) async throws(PushError) {
        for kept in try await store.schedules(startingFrom: clock.now) { schedules[kept.rule.name] = kept }
        for run in try await store.unfinishedRuns() { try await recoverRun(run) }
        hasBegun = true
        try await configure(flows)
    }

    /// Recovers a run that had not ended when the previous process did.
    private func recoverRun(_ run: RunRecord) async throws(PushError) {
        var run = run
        if !run.withheld.isEmpty {
            let names = run.withheld.joined(separator: ", ")
            return try await abandon(
                run, .interrupted, "run.secrets_lost", "the server ended before the run, and its secret arguments are not stored: \(names)",
                hint: "start the flow again with these arguments")
        }
        guard run.state == .running else { return queue.append(run) }
        guard run.guarantee == .atLeastOnce else {
            return try await abandon(
                run, .interrupted, "run.interrupted", "the server ended during the run; its progress is unknown",
                hint: "run it again with pushhost runs rerun \(run.id)")
        }
        guard run.attempts < Self.maximumAttempts else {
            return try await abandon(
                run, .failed, "run.attempts", "the server has ended \(run.attempts) times during the run",
                hint: "look for the cause in the log, then run it again with pushhost runs rerun \(run.id)")
        }
        run.state = .queued
        try await store.update(run)
        queue.append(run)
        note(.warning, run, "was interrupted when the server ended, and is repeated")
    }

    private func abandon(
        _ run: RunRecord, _ state: RunRecord.State, _ code: String, _ message: String, hint: String
    ) async throws(PushError) {
        var run = run
        run.state = state
        run.endedAt = clock.now
        run.report.failure = RunReport.Failure(code: code, message: message, hint: hint)
        try await store.update(run)
        meter.ended(run)
        note(.warning, run, message)
    }

    /// Replaces the set of flows. Runs that have started continue.
    package func configure(_ flows: [ServedFlow]) async throws(PushError) {
        // Before the flows are replaced, so that a run that becomes due meanwhile stores no secrets.
        var secretNames: [String: Set<String>] = [:]
        for flow in flows { secretNames[flow.name] = await secrets(of: flow, among: flow.arguments) }
        self.flows = Dictionary(flows.map { ($0.name, $0) }) { first, _ in first }
        self.secretNames = secretNames
        try await applySchedules(flows.flatMap(\.schedules))
        listen()
        await ring()
        await takeEvents()
        pump()
    }

    /// Changes the maximum number of concurrent runs. Runs that have started continue.
    package func change(limit: Int) {
        self.limit = limit
        pump()
    }

    /// Stops accepting triggers and starting runs. Runs in progress continue.
    package func hush() {
        isStopping = true
        events.want([]) {}
        alarm?.cancel()
        alarm = nil
    }

    /// Stops accepting triggers and cancels runs in progress; the next process repeats those that may be repeated. Returns when all are
    /// stored, also for concurrent callers. A run that does not end in time is stored as interrupted.
    package func stop() async {
        if let stopping { return await stopping.value }
        hush()
        let task = Task { await endRuns() }
        stopping = task
        await task.value
    }

    private func endRuns() async {
        let tasks = active.values.compactMap(\.task)
        for task in tasks { task.cancel() }
        await ended(tasks, within: Self.stopTime)
        for one in active.values.sorted(by: { $0.run.number < $1.run.number }) {
            note(.error, one.run, "did not end within \(Self.stopTime.short); no longer waiting for it")
            await leave(one.current)
        }
        for (_, continuations) in waiting { for continuation in continuations.values { continuation.resume() } }
        waiting = [:]
    }

    private func ended(_ tasks: [Task<Void, Never>], within time: Duration) async {
        guard !tasks.isEmpty else { return }
        let (waiting, end) = AsyncStream<Void>.makeStream()
        Task {
            for task in tasks { await task.value }
            end.finish()
        }
        let (steady, deadline) = (clock.steady, clock.steady.now + time)
        let alarm = start {
            guard (try? await steady.sleep(until: deadline)) != nil else { return }
            end.finish()
        }
        for await _ in waiting {}
        alarm.cancel()
    }

    /// Restarts after `stop()` with the store of a restored backup.
    package func goOn(with store: any RunStore) async throws(PushError) {
        guard let stopping else { return }
        await stopping.value
        self.store = store
        (queue, ending, confidential, schedules) = ([], [:], [:], [:])
        (isStopping, self.stopping) = (false, nil)
        try await begin(served)
    }

    // MARK: - Starting runs

    /// Stores a run of a flow and queues it.
    ///
    /// Throws `flow.not_found` (404), `args.invalid` (400), `script.*`, `run.overlap` (409) if the flow skips overlapping runs,
    /// `run.queue_full` (429), and `run.key` (422) for a key that belongs to another request.
    package func start(_ request: RunRequest) async throws(PushError) -> AddedRun {
        try checkIsOpen()
        var checked = try await executor.check(
            arguments(of: try flow(request.flow), request.arguments), for: try flow(request.flow),
            ignoringInvalidValues: request.trigger.suppliesUndeclaredArguments || request.ignoresInvalidValues)
        for name in request.secrets where !checked.secrets.contains(name) { checked.secrets.append(name) }
        try checkIsOpen()
        let flow = try flow(request.flow)
        var draft = draft(of: flow, request.trigger, checked.shown, key: request.key, origin: request.origin)
        draft.withheld = checked.secrets.filter { checked.values[$0] != nil }
        if draft.state == .queued { try checkRoom(flow) }
        guard let added = try await add([draft], RunCause()).first else { throw Self.stopped }
        if added.isRepeated {
            // A repeated key must repeat the request. Values of secrets are not stored, so they cannot be compared.
            guard added.run.arguments == draft.arguments, added.run.withheld == draft.withheld else {
                throw PushError(
                    "run.key", "the key belongs to another request, run \(added.run.id)",
                    hint: "use a new key for each run, and repeat a key only with the same request", status: 422,
                    details: ["run": .string(added.run.id)])
            }
            return AddedRun(run: live(added.run), isRepeated: true)
        }
        if added.run.state == .skipped { throw Self.overlap(added.run) }
        if !draft.withheld.isEmpty || request.caller != nil {
            confidential[added.run.number] = PrivateArguments(values: checked.values, caller: request.caller)
        }
        enqueue([added.run])
        return AddedRun(run: live(added.run), isRepeated: false)
    }

    /// A run that is not stored yet: queued, or skipped if the overlap policy says so and the flow's concurrency is used up.
    func draft(
        of flow: ServedFlow, _ trigger: RunTrigger, _ arguments: JSONObject, key: String?, origin: [String] = [],
        overlap: OverlapPolicy? = nil, ahead: Int = 0
    ) -> RunRecord {
        let now = clock.now
        var run = RunRecord(
            flow: flow.name, script: flow.script, trigger: trigger, key: key, arguments: arguments, guarantee: flow.guarantee,
            queuedAt: now, origin: origin)
        let policy = overlap ?? flow.overlap ?? trigger.overlap
        let others = count(of: flow.name) + ahead
        guard policy == .skip, others >= flow.concurrency else { return run }
        run.state = .skipped
        run.endedAt = now
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
            meter.ended(one.run)
            note(.warning, one.run, one.run.report.failure?.message ?? "")
        }
        return added
    }

    /// Queues stored runs.
    func enqueue(_ runs: [RunRecord]) {
        for run in runs where run.state == .queued {
            if let flow = flows[run.flow], (flow.overlap ?? run.trigger.overlap) == .replace { replaceOthers(of: flow, by: run) }
            queue.append(run)
        }
        pump()
    }

    private func replaceOthers(of flow: ServedFlow, by run: RunRecord) {
        guard runningCount(of: flow.name) >= flow.concurrency else { return }
        let actor = "\(run.id), which replaces it"
        for other in queue where other.flow == flow.name {
            queue.removeAll { $0.number == other.number }
            _ = start { await self.finish(other, RunResult(state: .cancelled, failure: Self.cancelled(by: actor))) }
        }
        let going = active.values.filter { $0.run.flow == flow.name && $0.cancelledBy == nil }.sorted { $0.run.number < $1.run.number }
        for other in going.prefix(max(0, going.count - flow.concurrency + 1)) { cancel(other.run.number, by: actor) }
    }

    /// Starts queued runs in order of arrival. A flow at its concurrency limit does not block others.
    func pump() {
        guard hasBegun, !isStopping, !isResting else { return }
        var place = 0
        while place < queue.count, active.count < limit {
            let run = queue[place]
            if let flow = flows[run.flow], runningCount(of: flow.name) >= flow.concurrency {
                place += 1
                continue
            }
            queue.remove(at: place)
            begun += 1
            let serial = begun
            active[run.number] = ActiveRun(serial: serial, run: run)
            let task = start { await self.perform(run, serial) }
            active[run.number]?.task = task
        }
        if hasMoreEvents, !isProcessingEvents { _ = start { await self.takeEvents() } }
    }

    // MARK: - Counting

    /// Number of queued and running runs of a flow.
    func count(of flow: String) -> Int { runningCount(of: flow) + queue.count { $0.flow == flow } }

    func runningCount(of flow: String) -> Int { active.values.count { $0.run.flow == flow } }

    func note(_ level: FlowLogEntry.Level, _ run: RunRecord, _ text: String, at location: String? = nil) {
        tell(
            FlowLogEntry(
                level: level, flow: run.flow, run: run.number == 0 ? nil : run.id, version: run.version, location: location, text: text))
    }
}

/// A request to run a flow.
package struct RunRequest: Sendable {
    package var flow: String
    package var arguments: JSONObject
    package var trigger: RunTrigger
    /// Idempotency key: requests with the same key start one run.
    package var key: String?
    /// The app backend user whose request the run answers.
    package var caller: Session?
    /// Names of arguments to treat as secret in addition to those that the script declares.
    package var secrets: [String]
    /// Whether to drop undeclared and invalid arguments instead of rejecting the request.
    package var ignoresInvalidValues = false
    package var origin: [String]

    package init(
        flow: String, arguments: JSONObject = JSONObject(), trigger: RunTrigger, key: String? = nil, caller: Session? = nil,
        secrets: [String] = [], origin: [String] = []
    ) {
        self.flow = flow
        self.arguments = arguments
        self.trigger = trigger
        self.key = key
        self.caller = caller
        self.secrets = secrets
        self.origin = origin
    }
}

/// An entry for the operator's log about flows.
package struct FlowLogEntry: Sendable, Equatable {
    package enum Level: Sendable { case info, warning, error }

    package var level: Level
    package var flow: String
    package var run: String?
    package var version: String?
    /// Script position, such as `scripts/greet.lua:12`.
    package var location: String?
    package var text: String
}
