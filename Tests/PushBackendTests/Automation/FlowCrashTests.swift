import PushBackend
import PushModel
import Storage
import Support
import Synchronization
import Testing

/// What happens to triggers and runs when the server crashes at any point.
@Suite struct FlowCrashTests {
    private static let flows = [
        ServedFlow(
            name: "again", script: "a.lua",
            triggers: FlowTriggers(
                schedules: [try? ScheduleRule(name: "again", flow: "again", cron: CronSchedule("*/10 * * * *"), missed: .all)].compactMap {
                    $0
                }, events: [.registrationCreated]), policy: RunPolicy(overlap: .queue, guarantee: .atLeastOnce)),
        ServedFlow(
            name: "once", script: "b.lua",
            triggers: FlowTriggers(
                schedules: [try? ScheduleRule(name: "once", flow: "once", cron: CronSchedule("*/10 * * * *"), missed: .all)].compactMap {
                    $0
                }, events: [.registrationCreated]), policy: RunPolicy(overlap: .queue, guarantee: .atMostOnce)),
    ]
    private static let end = HubBench.startTime + .seconds(1850)

    /// A scenario of requests, due times and events. It crashes before or after each of its writes, and another process continues.
    @Test(arguments: [true, false])
    func `After a crash at any point, at-least-once runs have run, and no other run has run twice`(isWritten: Bool) async throws {
        var (point, isCutOff) = (0, true)
        while isCutOff {
            isCutOff = try await scenario(dyingAt: point, isWritten: isWritten)
            point += 1
        }
        // The scenario crashed at each of these points.
        #expect(point > 20)
    }

    /// - Returns: Whether the first process crashed.
    private func scenario(dyingAt point: Int, isWritten: Bool) async throws -> Bool {
        let (storage, executor, events) = (MemoryStorage(), ScriptedFlows(), HubEvents())
        let mortal = CrashingStore(storage.runs, dyingAt: point, isWritten: isWritten)
        let first = try await AutomationBench(Self.flows, store: mortal, executor: executor, events: events, isBegun: false)
        // The triggers that were acknowledged.
        var answered: Set<String> = []
        let hasStarted = (try? await first.flows.begin(Self.flows)) != nil
        if hasStarted {
            for number in 1...3 {
                for flow in Self.flows.map(\.name) {
                    let key = "request \(number)"
                    if (try? await first.start(flow, ["key": .string("\(flow) \(key)")], key: key)) != nil {
                        answered.insert("\(flow) \(key)")
                    }
                }
                guard !mortal.isDead else { break }
                var change = RegistrationChange()
                change.events = [
                    HubEvent(
                        hub: "h", kind: .registrationCreated, time: first.clock.now, facts: ["key": .string("event \(number)")])
                ]
                try await storage.namespace.store(ofHub: 1).commit(change)
                for flow in Self.flows.map(\.name) { answered.insert("\(flow) event \(number)") }
                Task { await first.flows.takeEvents() }
                try await until {
                    if mortal.isDead { return true }
                    return try await storage.runs.events(limit: 1).isEmpty
                }
                if mortal.isDead { break }
                first.advance(by: .seconds(600))
                try await until {
                    if mortal.isDead { return true }
                    return try await storage.runs.runs(RunFilter(trigger: .schedule), before: nil, limit: 99).count >= number * 2
                }
            }
            try await until {
                if mortal.isDead { return true }
                return try await storage.runs.unfinishedRuns().isEmpty
            }
        }
        let isCutOff = mortal.isDead
        // The first process does nothing more from here on.
        let next = try await AutomationBench(Self.flows, store: storage.runs, executor: executor, now: Self.end)
        try await next.settle()
        try await until { try await storage.runs.events(limit: 1).isEmpty }
        try await next.settle()
        let runs = try await next.runs()
        let place = "\(isWritten ? "after" : "before") write \(point)"
        for run in runs {
            #expect(run.state.isFinal && run.lifecycle.endedAt != nil, "\(place): \(run.id)")
            let starts = executor.starts.count { $0.run == run.id }
            switch run.guarantee {
            case .atLeastOnce: #expect(starts >= 1 && run.state == .completed, "\(place): \(run.id) began \(starts) times, \(run.state)")
            case .atMostOnce: #expect(starts <= 1, "\(place): \(run.id) began \(starts) times")
            }
        }
        // Each acknowledged trigger and each due time has exactly one run.
        let keys = runs.map { "\($0.flow) \($0.origin.key ?? "")" }
        #expect(Set(keys).count == keys.count, "\(place)")
        for key in answered where key.contains("request") { #expect(keys.contains(key), "\(place): \(key)") }
        for key in answered where key.contains("event") {
            let number = key.split(separator: " ").last ?? ""
            #expect(
                runs.contains { $0.flow == key.prefix { $0 != " " } && $0.arguments["key"] == .string("event \(number)") },
                "\(place): \(key)")
        }
        // Due times before the first start was stored cannot have a run.
        for minutes in hasStarted ? [10, 20, 30] : [] {
            for flow in Self.flows.map(\.name) {
                let dueTime = HubBench.startTime + .seconds(Int64(minutes * 60))
                #expect(
                    runs.contains { $0.flow == flow && $0.trigger == .schedule(name: flow, dueTime: dueTime) },
                    "\(place): \(flow) \(minutes)"
                )
            }
        }
        return isCutOff
    }
}

/// A store whose process crashes at one of its writes: the write is stored or not, and the caller never learns which.
private final class CrashingStore: AutomationStore {
    private let base: any AutomationStore
    private let state: Mutex<(left: Int, isDead: Bool)>
    private let isWritten: Bool

    init(_ base: any AutomationStore, dyingAt point: Int, isWritten: Bool) {
        (self.base, self.isWritten) = (base, isWritten)
        state = Mutex((point, false))
    }

    var isDead: Bool { state.withLock { $0.isDead } }

    private static let death = PushError("storage.unavailable", "the process is dead", status: 503)

    private func write<Answer>(_ work: () async throws(PushError) -> Answer) async throws(PushError) -> Answer {
        let (isLast, isOver) = state.withLock { state in
            let isOver = state.isDead
            state.left -= 1
            if state.left < 0 { state.isDead = true }
            return (state.isDead && !isOver, isOver)
        }
        if isOver || isLast && !isWritten { throw Self.death }
        let answer = try await work()
        if isLast { throw Self.death }
        return answer
    }

    private func read<Answer>(_ work: () async throws(PushError) -> Answer) async throws(PushError) -> Answer {
        if isDead { throw Self.death }
        return try await work()
    }

    func add(_ runs: [RunRecord], _ cause: RunCause) async throws(PushError) -> [AddedRun] {
        try await write { () throws(PushError) in try await base.add(runs, cause) }
    }
    func update(_ run: RunRecord) async throws(PushError) { try await write { () throws(PushError) in try await base.update(run) } }
    func save(_ schedule: StoredSchedule) async throws(PushError) {
        try await write { () throws(PushError) in try await base.save(schedule) }
    }
    func removeSchedule(_ name: String) async throws(PushError) {
        try await write { () throws(PushError) in try await base.removeSchedule(name) }
    }
    func removeRuns(endedBefore dueTime: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await write { () throws(PushError) in try await base.removeRuns(endedBefore: dueTime, limit: limit) }
    }
    func run(_ number: Int64) async throws(PushError) -> RunRecord? {
        try await read { () throws(PushError) in try await base.run(number) }
    }
    func runs(_ filter: RunFilter, before number: Int64?, limit: Int) async throws(PushError) -> [RunRecord] {
        try await read { () throws(PushError) in try await base.runs(filter, before: number, limit: limit) }
    }
    func unfinishedRuns() async throws(PushError) -> [RunRecord] {
        try await read { () throws(PushError) in try await base.unfinishedRuns() }
    }
    func schedules(startingFrom now: Timestamp) async throws(PushError) -> [StoredSchedule] {
        try await read { () throws(PushError) in try await base.schedules(startingFrom: now) }
    }
    func events(limit: Int) async throws(PushError) -> [HubEvent] {
        try await read { () throws(PushError) in try await base.events(limit: limit) }
    }
}
