package import PushModel

/// Starts a server's flows when their triggers fire, and records the results of their runs.
///
/// A trigger is stored before its run starts, so the next process finds every requested run. Whether an interrupted run is repeated
/// depends on the flow's `RunGuarantee`. The parts of its state share its isolation.
package actor FlowDispatcher {
    package typealias TaskStarter = @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>

    private let executor: any FlowExecutor
    private let inspector: FlowInspector
    private let clock: any HubClock
    private let zones: any TimeZoneSource
    private let events: HubEvents
    private let start: TaskStarter
    private let log: FlowLog

    private let catalog: FlowCatalog
    private let pool: RunPool
    private let schedules: ScheduleTriggers
    private let eventTriggers: EventTriggers
    /// The task that ends all runs; nil until `stop()`.
    private var stopping: Task<Void, Never>?

    /// Time limit for runs to end at shutdown. A script's cleanup takes at most 5 s; the rest is for calls that do not return.
    package static let stopTime: Duration = .seconds(10)

    /// - Parameters:
    ///   - limit: maximum number of concurrent runs of all flows.
    ///   - start: starts tasks. Those that record the progress of a run start with its ``ChargedWork/account``.
    package init(
        store: any AutomationStore, executor: any FlowExecutor, clock: any HubClock, zones: any TimeZoneSource,
        events: HubEvents = HubEvents(),
        limit: Int = 16, start: @escaping TaskStarter, writeLog: @escaping @Sendable (FlowLogEntry) -> Void = { _ in }
    ) {
        self.executor = executor
        self.clock = clock
        self.zones = zones
        self.events = events
        let uncharged: TaskStarter = { work in ChargedWork.withoutRun { start(work) } }
        self.start = uncharged
        let (inspector, log, catalog) = (FlowInspector(executor: executor), FlowLog(write: writeLog), FlowCatalog())
        let pool = RunPool(catalog: catalog, store: store, executor: executor, clock: clock, limit: limit, start: start, log: log)
        self.inspector = inspector
        self.log = log
        self.catalog = catalog
        self.pool = pool
        schedules = ScheduleTriggers(
            catalog: catalog, pool: pool, inspector: inspector, clock: clock, zones: zones, start: uncharged, log: log)
        eventTriggers = EventTriggers(catalog: catalog, pool: pool, clock: clock, log: log)
    }

    // MARK: - Starting and stopping

    /// Recovers the runs of the previous process, then starts to accept triggers.
    package func begin(_ flows: [ServedFlow]) async throws(PushError) {
        try await schedules.load()
        for run in try await pool.store.unfinishedRuns() { try await pool.recover(run) }
        pool.hasStarted = true
        try await configure(flows)
    }

    /// Replaces the set of flows. Runs that have started continue.
    package func configure(_ flows: [ServedFlow]) async throws(PushError) {
        // Before the flows are replaced, so that a run that becomes due meanwhile stores no secrets.
        var secretNames: [String: Set<String>] = [:]
        for flow in flows { secretNames[flow.name] = await inspector.secrets(of: flow, among: flow.arguments) }
        catalog.replace(flows, secretNames: secretNames)
        try await schedules.apply(flows.flatMap(\.triggers.schedules))
        listen()
        await startDueRuns()
        await takeEvents()
        pool.startReady(on: self)
    }

    /// Subscribes to the event kinds that start some flow. Hubs record no other kinds.
    private func listen() {
        let start = start
        events.subscribe(to: catalog.eventKinds) { [weak self] in
            guard let self else { return }
            _ = start { await self.takeEvents() }
        }
    }

    /// Changes the maximum number of concurrent runs. Runs that have started continue.
    package func change(limit: Int) {
        pool.limit = limit
        pool.startReady(on: self)
    }

    /// Stops accepting triggers and starting runs. Runs in progress continue.
    package func stopAccepting() {
        pool.isStopping = true
        events.subscribe(to: []) {}
        schedules.cancelAlarm()
    }

    /// Stops accepting triggers and cancels runs in progress; the next process repeats those that may be repeated. Returns when all are
    /// stored, also for concurrent callers. A run that does not end in time is stored as interrupted.
    package func stop() async {
        if let stopping { return await stopping.value }
        stopAccepting()
        let task = Task { await endRuns() }
        stopping = task
        await task.value
    }

    private func endRuns() async {
        let tasks = pool.active.values.compactMap(\.task)
        for task in tasks { task.cancel() }
        await ended(tasks, within: Self.stopTime)
        for one in pool.active.values.sorted(by: { $0.run.number < $1.run.number }) {
            log.note(.error, one.run, "did not end within \(Self.stopTime.short); no longer waiting for it")
            await pool.leave(one.current)
        }
        pool.waiters.resumeAll()
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
    package func resume(with store: any AutomationStore) async throws(PushError) {
        guard let stopping else { return }
        await stopping.value
        pool.restart(with: store)
        schedules.removeAll()
        self.stopping = nil
        try await begin(served)
    }

    // MARK: - Flows

    /// All flows, ordered by name.
    package var served: [ServedFlow] { catalog.sorted }

    /// Throws `flow.not_found` (404).
    package func flow(_ name: String) throws(PushError) -> ServedFlow { try catalog.flow(name) }

    /// Number of queued and running runs of a flow.
    package func unfinished(of flow: String) -> Int { pool.count(of: flow) }

    /// The flow that answers `POST /api/notifications`, if one is configured.
    package var backendFlow: ServedFlow? { catalog.backendFlow }

    /// Parameters and description that a flow's script declares. Throws `flow.not_found` (404) and `script.*`.
    package func description(of name: String) async throws(PushError) -> FlowDescription {
        try await executor.parameters(of: try flow(name))
    }

    /// Validates a flow's settings. Throws `script.*`, `flow.broken`, and `args.invalid` if the script does not accept the arguments of the
    /// flow or of its schedules. Arguments that requests can supply may be missing.
    package func check(_ flow: ServedFlow) async throws(PushError) { try await inspector.check(flow) }

    /// The flow's configured arguments with secrets masked.
    package func maskedArguments(of flow: ServedFlow) -> JSONObject { catalog.maskedArguments(of: flow) }

    // MARK: - Starting runs

    /// Stores a run of a flow and queues it.
    ///
    /// Throws `flow.not_found` (404), `args.invalid` (400), `script.*`, `run.overlap` (409) if the flow skips overlapping runs,
    /// `run.queue_full` (429), and `run.key` (422) for a key that belongs to another request.
    package func start(_ request: RunRequest) async throws(PushError) -> AddedRun {
        try checkIsOpen()
        var checked = try await executor.check(
            try flow(request.flow).arguments(request.arguments), for: try flow(request.flow),
            ignoringInvalidValues: request.trigger.suppliesUndeclaredArguments || request.ignoresInvalidValues)
        for name in request.secrets where !checked.secrets.contains(name) { checked.secrets.append(name) }
        try checkIsOpen()
        let flow = try flow(request.flow)
        let draft = pool.draft(
            of: flow,
            RunOrigin(
                request.trigger, key: request.key, arguments: checked.shown,
                withheld: checked.secrets.filter { checked.values[$0] != nil }, causes: request.origin))
        if draft.state == .queued { try pool.checkQueueLimit(flow) }
        guard let added = try await pool.add([draft], RunCause()).first else { throw Self.stopped }
        if added.isRepeated {
            // A repeated key must repeat the request. Values of secrets are not stored, so they cannot be compared.
            guard added.run.arguments == draft.arguments, added.run.withheld == draft.withheld else {
                throw PushError(
                    "run.key", "the key belongs to another request, run \(added.run.id)",
                    hint: "use a new key for each run, and repeat a key only with the same request", status: 422,
                    details: ["run": .string(added.run.id)])
            }
            return AddedRun(run: pool.live(added.run), isRepeated: true)
        }
        if added.run.state == .skipped { throw Self.overlap(added.run) }
        if !draft.withheld.isEmpty || request.caller != nil {
            pool.keep(PrivateArguments(values: checked.values, caller: request.caller), of: added.run.number)
        }
        pool.enqueue([added.run], on: self)
        return AddedRun(run: pool.live(added.run), isRepeated: false)
    }

    /// Starts a new run with the arguments of an ended one. Throws `run.not_found` (404), `run.unfinished` and `run.secrets_lost` (409),
    /// and what `start` throws.
    package func rerun(_ id: String, by actor: String) async throws(PushError) -> RunRecord {
        let run = try await run(id)
        guard run.state.isFinal else {
            throw PushError(
                "run.unfinished", "\(id) has not ended: \(run.state.rawValue)",
                hint: "wait until it ends, or run pushhost runs cancel \(id)",
                status: 409)
        }
        guard run.withheld.isEmpty else {
            throw PushError(
                "run.secrets_lost", "\(id) had secret arguments, which are not stored: \(run.withheld.joined(separator: ", "))",
                hint: "start the flow again with these arguments", status: 409)
        }
        var request = RunRequest(flow: run.flow, arguments: run.arguments, trigger: .rerun(of: id, by: actor), origin: run.origin.causes)
        // Such a trigger supplies more arguments than the script declares, and the script may have changed since.
        request.ignoresInvalidValues = run.trigger.suppliesUndeclaredArguments
        return try await start(request).run
    }

    private func checkIsOpen() throws(PushError) {
        if pool.isStopping { throw Self.stopped }
    }

    private static let stopped = PushError(
        "hub.stopped", "the server is shutting down and starts no more runs", hint: "try again later", status: 503, isRetryable: true)

    package static func overlap(_ run: RunRecord) -> PushError {
        PushError(
            "run.overlap", run.report.failure?.message ?? "another run of \(run.flow) had not ended",
            hint: "wait until it ends, or set overlap: queue in the flow's settings", status: 409, isRetryable: true,
            details: ["run": .string(run.id)])
    }

    // MARK: - Events

    /// Starts the flows for recorded events. If a flow's queue is full, processing pauses until a run ends; no event is dropped.
    package func takeEvents() async { await eventTriggers.process(on: self) }

    /// Continues with events if their processing has paused.
    func resumeEvents() {
        if eventTriggers.isPaused { _ = start { await self.takeEvents() } }
    }

    // MARK: - Runs

    /// The run with this id, with its progress so far. Throws `run.not_found` (404).
    package func run(_ id: String) async throws(PushError) -> RunRecord {
        if let number = RunRecord.number(of: id) {
            if let run = pool.known(number) { return run }
            if let run = try await pool.store.run(number) { return pool.live(run) }
        }
        // Suggest a recent run: a mistyped id usually belongs to one.
        let recent = try await pool.store.runs(RunFilter(), before: nil, limit: 20).map(\.id)
        let near = nearest(id, in: recent)
        throw PushError(
            "run.not_found", "unknown run \"\(id.prefix(40))\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: "list them with pushhost runs list", status: 404)
    }

    /// Runs below `number` (nil: from the newest), newest first. Only runs in progress include their reports.
    package func runs(_ filter: RunFilter, before number: Int64?, limit: Int) async throws(PushError) -> [RunRecord] {
        try await pool.store.runs(filter, before: number, limit: limit).map { pool.live($0) }
    }

    /// Deletes runs that ended before `time`.
    package func forget(endedBefore time: Timestamp) async throws(PushError) {
        while !Task.isCancelled, try await pool.store.removeRuns(endedBefore: time, limit: 200) == 200 {}
    }

    /// Cancels an unfinished run and returns once its end is recorded. Throws `run.not_found` (404) and `run.ended` (409).
    package func cancel(_ id: String, by actor: String) async throws(PushError) -> RunRecord {
        let run = try await run(id)
        guard !run.state.isFinal else {
            throw PushError(
                "run.ended", "\(id) has already ended: \(run.state.rawValue)", hint: "see pushhost runs show \(id)", status: 409)
        }
        if let queued = pool.dequeue(run.number) {
            await finish(queued, RunResult(state: .cancelled, failure: RunPool.cancelled(by: actor)))
        } else {
            pool.cancel(run.number, by: actor)
            await finished(run.number)
        }
        return try await self.run(id)
    }

    /// Waits until the run has ended, the server stops or `time` has passed on the hub's steady clock.
    package func finished(_ number: Int64, within time: Duration? = nil) async {
        guard pool.isUnfinished(number), !pool.isStopping else { return }
        let waiter = pool.waiters.next()
        let timeout = time.map { time in
            let deadline = clock.steady.now + time
            return start {
                guard (try? await self.clock.steady.sleep(until: deadline)) != nil else { return }
                await self.give(up: waiter, of: number)
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { pool.waiters.add(waiter, for: number, $0) }
        } onCancel: {
            Task { await self.give(up: waiter, of: number) }
        }
        timeout?.cancel()
    }

    private func give(up waiter: Int, of number: Int64) { pool.waiters.resume(waiter, of: number) }

    // The tasks of the pool.

    func perform(_ run: RunRecord, _ serial: Int) async { await pool.perform(run, serial, on: self) }

    func checkpoint(_ number: Int64) async { await pool.checkpoint(number) }

    func finish(_ run: RunRecord, _ end: RunResult) async { await pool.finish(run, end, on: self) }

    func storeEnd(_ number: Int64) async { await pool.storeEnd(number) }

    func resumeRuns() { pool.resume(on: self) }

    // MARK: - Schedules

    /// All schedules, ordered by name.
    package var sortedSchedules: [StoredSchedule] { schedules.sorted }

    /// Throws `schedule.not_found` (404).
    package func schedule(_ name: String) throws(PushError) -> StoredSchedule { try schedules.schedule(name) }

    /// The next `count` due times of a schedule, ignoring whether it is paused. Throws `time_zone.*`.
    package func dueTimes(of rule: ScheduleRule, count: Int) throws(PushError) -> [Timestamp] {
        try DueTimes(rule, zones).next(count, after: clock.now)
    }

    /// Adds a schedule; due times count from now on. Throws `schedule.exists` (409), `flow.not_found` (404), `time_zone.*`, and
    /// `args.invalid` (400) if the flow does not accept the arguments.
    package func add(_ rule: ScheduleRule) async throws(PushError) -> StoredSchedule {
        try checkIsOpen()
        return try await schedules.add(rule, on: self)
    }

    /// Pauses or resumes a schedule. Due times during the pause are skipped. Throws `schedule.not_found` (404).
    package func pause(_ name: String, _ isPaused: Bool) async throws(PushError) -> StoredSchedule {
        try checkIsOpen()
        return try await schedules.pause(name, isPaused, on: self)
    }

    /// Removes a schedule. Throws `schedule.not_found` (404), and `schedule.configured` (409) if the settings file defines it.
    package func remove(schedule name: String) async throws(PushError) {
        try checkIsOpen()
        try await schedules.remove(name, on: self)
    }

    /// Starts the runs that are due.
    func startDueRuns() async { await schedules.startDueRuns(on: self) }
}
