/// Starts the flows of a server when their triggers come, and keeps what becomes of their runs.
///
/// A trigger is kept before anything comes of it: a run that was asked for is found again by the process after this one. What had begun
/// and not ended then is begun again, or is not, as its flow declares.
package actor FlowDispatcher {
    private(set) var store: any RunStore
    let executor: any FlowExecutor
    let clock: any HubClock
    let zones: any TimeZoneSource
    let events: HubEvents
    let meter = RunMeter()
    let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    let tell: @Sendable (FlowNews) -> Void

    /// By name.
    var flows: [String: ServedFlow] = [:]
    /// By name.
    var schedules: [String: KeptSchedule] = [:]
    /// Of each flow, what its settings give it and nothing may keep: its script calls it secret.
    var secretNames: [String: Set<String>] = [:]
    /// Runs that wait for their turn, of all flows, in the order in which they came.
    var queue: [RunRecord] = []
    var active: [Int64: ActiveRun] = [:]
    /// Runs that have ended, until that is kept.
    var ending: [Int64: RunRecord] = [:]
    /// What runs were given that is not kept, until they have ended.
    var confidential: [Int64: PrivateArguments] = [:]
    var waiting: [Int64: [Int: CheckedContinuation<Void, Never>]] = [:]
    var waiters = 0
    /// Runs of all flows at a time.
    var limit: Int
    var isStopping = false
    /// Ends what is under way; nil before the end.
    private var stopping: Task<Void, Never>?
    private var begun = 0
    var hasBegun = false
    var alarm: Task<Void, Never>?
    var isRinging = false
    var isTakingEvents = false
    var hasMoreEvents = false
    /// Whether runs that could not be begun are tried again in a while.
    var isResting = false

    /// Most runs of one flow that wait.
    static let queueLimit = 1000
    /// A run that was under way at so many ends of the server is not begun again: it may be what ends it.
    static let mostAttempts = 5
    static let pause: Duration = .seconds(5)
    /// Time that runs have to end when the server stops. A run cleans up for 5 s at most: this is for what else may hold it.
    package static let stopTime: Duration = .seconds(10)

    /// - Parameter limit: runs of all flows at a time.
    package init(
        store: any RunStore, executor: any FlowExecutor, clock: any HubClock, zones: any TimeZoneSource, events: HubEvents = HubEvents(),
        limit: Int = 16,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>,
        tell: @escaping @Sendable (FlowNews) -> Void = { _ in }
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

    // MARK: - Beginning and end

    /// Takes up what a process before this one has left, and begins to hear triggers.
    package func begin(_ flows: [ServedFlow]) async throws(PushError) {
        for kept in try await store.schedules(hearingFrom: clock.now) { schedules[kept.rule.name] = kept }
        for run in try await store.unfinishedRuns() { try await takeUp(run) }
        hasBegun = true
        try await configure(flows)
    }

    /// What becomes of a run that had not ended when the server did.
    private func takeUp(_ run: RunRecord) async throws(PushError) {
        var run = run
        if !run.withheld.isEmpty {
            let names = run.withheld.joined(separator: ", ")
            return try await abandon(
                run, .interrupted, "run.secrets_lost", "the server ended before the run did, and \(names) is kept nowhere",
                hint: "start it anew")
        }
        guard run.state == .running else { return queue.append(run) }
        guard run.guarantee == .atLeastOnce else {
            return try await abandon(
                run, .interrupted, "run.interrupted", "the server ended while the run was under way; nobody knows how far it came",
                hint: "pushhost runs rerun \(run.id) begins it again")
        }
        guard run.attempts < Self.mostAttempts else {
            return try await abandon(
                run, .failed, "run.attempts", "the server has ended \(run.attempts) times while the run was under way",
                hint: "look in the log for why; pushhost runs rerun \(run.id) begins it again")
        }
        run.state = .queued
        try await store.update(run)
        queue.append(run)
        note(.warning, run, "was under way when the server ended, and is begun again")
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

    /// From now on there are these flows. Runs that have begun go on.
    package func configure(_ flows: [ServedFlow]) async throws(PushError) {
        // Before the flows are there: a moment that comes meanwhile shall keep nothing secret.
        var secretNames: [String: Set<String>] = [:]
        for flow in flows { secretNames[flow.name] = await secrets(of: flow, among: flow.arguments) }
        self.flows = Dictionary(flows.map { ($0.name, $0) }) { first, _ in first }
        self.secretNames = secretNames
        try await takeSchedules(flows.flatMap(\.schedules))
        listen()
        await ring()
        await takeEvents()
        pump()
    }

    /// How many runs there are at a time, of all flows together; those that have begun go on.
    package func change(limit: Int) {
        self.limit = limit
        pump()
    }

    /// Hears nothing any more, and begins nothing; what is under way goes on.
    package func hush() {
        isStopping = true
        events.want([]) {}
        alarm?.cancel()
        alarm = nil
    }

    /// Hears nothing any more, and ends what is under way: what may be begun again will be, by the next process. Returns when all of it is
    /// stored, however many callers there are. A run that does not end in time is stored as if it had, and not waited for.
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
            note(.error, one.run, "did not end within \(Self.stopTime.short), and is not waited for")
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

    /// The same with what a backup has put in the place of everything, after `stop`.
    package func goOn(with store: any RunStore) async throws(PushError) {
        guard let stopping else { return }
        await stopping.value
        self.store = store
        (queue, ending, confidential, schedules) = ([], [:], [:], [:])
        (isStopping, self.stopping) = (false, nil)
        try await begin(served)
    }

    // MARK: - Starting

    /// Keeps a run of a flow, which begins when it is its turn.
    ///
    /// Throws `flow.not_found` (404), `args.invalid` (400), `script.*`, `run.overlap` (409) where the flow runs one at a time and skips
    /// others, `run.queue_full` (429), and `run.key` (422) for a key that belongs to another request.
    package func start(_ request: RunRequest) async throws(PushError) -> AddedRun {
        try checkIsOpen()
        var checked = try await executor.check(
            arguments(of: try flow(request.flow), request.arguments), for: try flow(request.flow),
            takingWhatFits: request.trigger.tellsMore || request.takesWhatFits)
        for name in request.secrets where !checked.secrets.contains(name) { checked.secrets.append(name) }
        try checkIsOpen()
        let flow = try flow(request.flow)
        var draft = draft(of: flow, request.trigger, checked.shown, key: request.key, origin: request.origin)
        draft.withheld = checked.secrets.filter { checked.values[$0] != nil }
        if draft.state == .queued { try checkRoom(flow) }
        guard let added = try await add([draft], RunCause()).first else { throw Self.stopped }
        if added.isRepeated {
            // One key, one request: what is secret of it cannot be compared.
            guard added.run.arguments == draft.arguments, added.run.withheld == draft.withheld else {
                throw PushError(
                    "run.key", "the key belongs to another request, that of \(added.run.id)",
                    hint: "use a key once for each run, and again only to repeat the request unchanged", status: 422,
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

    /// A run that is not kept yet: queued, or skipped where others are under way and its flow will have it so.
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
            hint: "overlap: queue lets it wait, concurrency allows more at a time")
        return run
    }

    /// Keeps runs and what they come from.
    func add(_ drafts: [RunRecord], _ cause: RunCause) async throws(PushError) -> [AddedRun] {
        let added = try await store.add(drafts, cause)
        for one in added where !one.isRepeated && one.run.state == .skipped {
            meter.ended(one.run)
            note(.warning, one.run, one.run.report.failure?.message ?? "")
        }
        return added
    }

    /// Lets kept runs take their turns.
    func enqueue(_ runs: [RunRecord]) {
        for run in runs where run.state == .queued {
            if let flow = flows[run.flow], (flow.overlap ?? run.trigger.overlap) == .replace { replaceOthers(of: flow, by: run) }
            queue.append(run)
        }
        pump()
    }

    private func replaceOthers(of flow: ServedFlow, by run: RunRecord) {
        guard runningCount(of: flow.name) >= flow.concurrency else { return }
        let actor = "\(run.id), which takes its place"
        for other in queue where other.flow == flow.name {
            queue.removeAll { $0.number == other.number }
            _ = start { await self.finish(other, RunEnd(state: .cancelled, failure: Self.cancelled(by: actor))) }
        }
        let going = active.values.filter { $0.run.flow == flow.name && $0.cancelledBy == nil }.sorted { $0.run.number < $1.run.number }
        for other in going.prefix(max(0, going.count - flow.concurrency + 1)) { cancel(other.run.number, by: actor) }
    }

    /// Begins what can begin: what came first goes first, but nothing waits for a flow that has no room.
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
        if hasMoreEvents, !isTakingEvents { _ = start { await self.takeEvents() } }
    }

    // MARK: - Counting

    /// Runs of a flow that have not ended.
    func count(of flow: String) -> Int { runningCount(of: flow) + queue.count { $0.flow == flow } }

    func runningCount(of flow: String) -> Int { active.values.count { $0.run.flow == flow } }

    func note(_ level: FlowNews.Level, _ run: RunRecord, _ text: String, at location: String? = nil) {
        tell(
            FlowNews(
                level: level, flow: run.flow, run: run.number == 0 ? nil : run.id, version: run.version, location: location, text: text))
    }
}

/// What somebody asks for.
package struct RunRequest: Sendable {
    package var flow: String
    package var arguments: JSONObject
    package var trigger: RunTrigger
    /// The sender's own name for it; asking twice with the same one begins one run.
    package var key: String?
    /// The user whose request it answers.
    package var caller: Session?
    /// Names of arguments that are secret, whether the script says so or not.
    package var secrets: [String]
    /// Whether what the script does not declare is left out.
    package var takesWhatFits = false
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

/// What an operator should know of flows.
package struct FlowNews: Sendable, Equatable {
    package enum Level: Sendable { case info, warning, error }

    package var level: Level
    package var flow: String
    package var run: String?
    package var version: String?
    /// A place in a script.
    package var location: String?
    package var text: String
}
