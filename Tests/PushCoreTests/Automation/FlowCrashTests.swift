import PushCore
import Storage
import Support
import Synchronization
import Testing

/// What becomes of triggers and runs when the server dies, at whatever point.
@Suite struct FlowCrashTests {
    private static let flows = [
        ServedFlow(
            name: "again", script: "a.lua",
            schedules: [try? ScheduleRule(name: "again", flow: "again", cron: CronSchedule("*/10 * * * *"), missed: .all)].compactMap {
                $0
            },
            events: [.registrationCreated], overlap: .queue, guarantee: .atLeastOnce),
        ServedFlow(
            name: "once", script: "b.lua",
            schedules: [try? ScheduleRule(name: "once", flow: "once", cron: CronSchedule("*/10 * * * *"), missed: .all)].compactMap { $0 },
            events: [.registrationCreated], overlap: .queue, guarantee: .atMostOnce),
    ]
    private static let end = HubBench.dawn + .seconds(1850)

    /// A scenario of requests, moments and events, cut off before or after each of its writes, and gone on with by another process.
    @Test(arguments: [true, false])
    func `Whenever the server dies, what may be begun again has run, and nothing else has run twice`(isWritten: Bool) async throws {
        var (point, isCutOff) = (0, true)
        while isCutOff {
            isCutOff = try await scenario(dyingAt: point, isWritten: isWritten)
            point += 1
        }
        // It was cut off at each of so many points.
        #expect(point > 20)
    }

    /// - Returns: whether the first process died.
    private func scenario(dyingAt point: Int, isWritten: Bool) async throws -> Bool {
        let (storage, executor, events) = (MemoryStorage(), ScriptedFlows(), HubEvents())
        let mortal = MortalStore(storage.runs, dyingAt: point, isWritten: isWritten)
        let first = try await AutomationBench(Self.flows, store: mortal, executor: executor, events: events, isBegun: false)
        // Each trigger that was answered for.
        var answered: Set<String> = []
        let hasBegun = (try? await first.flows.begin(Self.flows)) != nil
        if hasBegun {
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
        // Nothing comes of the first process any more.
        let next = try await AutomationBench(Self.flows, store: storage.runs, executor: executor, now: Self.end)
        try await next.settle()
        try await until { try await storage.runs.events(limit: 1).isEmpty }
        try await next.settle()
        let runs = try await next.runs()
        let place = "\(isWritten ? "after" : "before") write \(point)"
        for run in runs {
            #expect(run.state.isFinal && run.endedAt != nil, "\(place): \(run.id)")
            let starts = executor.starts.count { $0.run == run.id }
            switch run.guarantee {
            case .atLeastOnce: #expect(starts >= 1 && run.state == .completed, "\(place): \(run.id) began \(starts) times, \(run.state)")
            case .atMostOnce: #expect(starts <= 1, "\(place): \(run.id) began \(starts) times")
            }
        }
        // Of every trigger that was answered for, and of every moment, there is one run.
        let keys = runs.map { "\($0.flow) \($0.key ?? "")" }
        #expect(Set(keys).count == keys.count, "\(place)")
        for key in answered where key.contains("request") { #expect(keys.contains(key), "\(place): \(key)") }
        for key in answered where key.contains("event") {
            let number = key.split(separator: " ").last ?? ""
            #expect(
                runs.contains { $0.flow == key.prefix { $0 != " " } && $0.arguments["key"] == .string("event \(number)") },
                "\(place): \(key)")
        }
        // Of moments before it was known that somebody wants to hear them nothing can come.
        for minutes in hasBegun ? [10, 20, 30] : [] {
            for flow in Self.flows.map(\.name) {
                let moment = HubBench.dawn + .seconds(Int64(minutes * 60))
                #expect(
                    runs.contains { $0.flow == flow && $0.trigger == .schedule(name: flow, moment: moment) }, "\(place): \(flow) \(minutes)"
                )
            }
        }
        return isCutOff
    }
}

/// A store whose process dies at one of its writes: that one is kept, or is not, and nobody hears of it.
private final class MortalStore: RunStore {
    private let base: any RunStore
    private let state: Mutex<(left: Int, isDead: Bool)>
    private let isWritten: Bool

    init(_ base: any RunStore, dyingAt point: Int, isWritten: Bool) {
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
    func keep(_ schedule: KeptSchedule) async throws(PushError) {
        try await write { () throws(PushError) in try await base.keep(schedule) }
    }
    func removeSchedule(_ name: String) async throws(PushError) {
        try await write { () throws(PushError) in try await base.removeSchedule(name) }
    }
    func removeRuns(endedBefore moment: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await write { () throws(PushError) in try await base.removeRuns(endedBefore: moment, limit: limit) }
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
    func schedules(hearingFrom now: Timestamp) async throws(PushError) -> [KeptSchedule] {
        try await read { () throws(PushError) in try await base.schedules(hearingFrom: now) }
    }
    func events(limit: Int) async throws(PushError) -> [HubEvent] {
        try await read { () throws(PushError) in try await base.events(limit: limit) }
    }
}
