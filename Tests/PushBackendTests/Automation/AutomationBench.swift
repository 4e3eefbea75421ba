import PushBackend
import PushModel
import Storage
import Support
import Synchronization
import Testing

/// A dispatcher of flows with a virtual clock.
final class AutomationBench: Sendable {
    let clock: VirtualClock
    let executor: ScriptedFlows
    let store: any AutomationStore
    let events: HubEvents
    let flows: FlowDispatcher
    private let lines: Lines

    init(
        _ served: [ServedFlow] = [], store: (any AutomationStore)? = nil, executor: ScriptedFlows = ScriptedFlows(),
        now: Timestamp = HubBench.startTime, events: HubEvents = HubEvents(), limit: Int = 16, isBegun: Bool = true
    ) async throws {
        (clock, self.executor, self.events) = (VirtualClock(now: now), executor, events)
        self.store = store ?? MemoryRunStore()
        let log = Lines()
        flows = FlowDispatcher(
            store: self.store, executor: executor, clock: clock, zones: OnlyUTC(), events: events, limit: limit,
            start: { work in Task { await work() } }, writeLog: { log.add("\($0.flow): \($0.text)") })
        lines = log
        if isBegun { try await flows.begin(served) }
    }

    var log: [String] { lines.all }

    func start(
        _ flow: String, _ arguments: JSONObject = JSONObject(), key: String? = nil, trigger: RunTrigger = .http(by: "key:ops")
    ) async throws -> RunRecord {
        try await flows.start(RunRequest(flow: flow, arguments: arguments, trigger: trigger, key: key)).run
    }

    /// Waits for the end of the run and returns it.
    @discardableResult
    func ended(_ run: RunRecord) async throws -> RunRecord {
        await flows.finished(run.number)
        try await until { try await self.store.run(run.number)?.state.isFinal == true }
        return try #require(try await store.run(run.number))
    }

    /// Waits until no run is queued or in progress.
    func settle() async throws {
        try await until { try await self.store.unfinishedRuns().isEmpty }
    }

    /// Advances the clock, which wakes the tasks that sleep until then.
    func advance(by duration: Duration) { clock.advance(to: clock.now + duration) }

    /// All runs, oldest first.
    func runs(_ filter: RunFilter = RunFilter()) async throws -> [RunRecord] {
        try await flows.runs(filter, before: nil, limit: 10_000).reversed()
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }
}
