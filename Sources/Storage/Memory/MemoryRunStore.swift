package import PushModel

/// Runs, schedules and events in memory.
package actor MemoryRunStore: AutomationStore {
    private var runs: [Int64: RunRecord] = [:]
    private var lastRun: Int64 = 0
    private var storedSchedules: [String: StoredSchedule] = [:]
    private var unhandled: [HubEvent] = []
    private var lastEvent: Int64 = 0

    package init() {}

    package func add(_ runs: [RunRecord], _ cause: RunCause) -> [AddedRun] {
        let added = runs.map { run -> AddedRun in
            if let key = run.origin.key, let known = self.runs.values.first(where: { $0.flow == run.flow && $0.origin.key == key }) {
                return AddedRun(run: known, isRepeated: true)
            }
            lastRun += 1
            var storedSchedules = run
            storedSchedules.number = lastRun
            self.runs[lastRun] = storedSchedules
            return AddedRun(run: storedSchedules, isRepeated: false)
        }
        for (name, time) in cause.handledUntil {
            guard let schedule = storedSchedules[name], schedule.handledUntil < time else { continue }
            storedSchedules[name]?.handledUntil = time
        }
        if let last = cause.events { unhandled.removeAll { $0.number <= last } }
        return added
    }

    package func update(_ run: RunRecord) {
        if runs[run.number] != nil { runs[run.number] = run }
    }

    package func run(_ number: Int64) -> RunRecord? { runs[number] }

    package func runs(_ filter: RunFilter, before number: Int64?, limit: Int) -> [RunRecord] {
        runs.values.filter { $0.number < number ?? .max && filter.lets($0) }.sorted { $0.number > $1.number }.prefix(limit).map { run in
            var run = run
            run.report = RunReport()
            return run
        }
    }

    package func unfinishedRuns() -> [RunRecord] {
        runs.values.filter { !$0.state.isFinal }.sorted { $0.number < $1.number }
    }

    package func removeRuns(endedBefore time: Timestamp, limit: Int) -> Int {
        let ended = runs.values.filter { $0.lifecycle.endedAt.map { $0 < time } ?? false && $0.state.isFinal }
            .sorted { ($0.lifecycle.endedAt ?? time, $0.number) < ($1.lifecycle.endedAt ?? time, $1.number) }.prefix(limit)
        for run in ended { runs[run.number] = nil }
        return ended.count
    }

    package func schedules(startingFrom now: Timestamp) -> [StoredSchedule] {
        storedSchedules.values.sorted { $0.rule.name < $1.rule.name }
    }

    package func save(_ schedule: StoredSchedule) { storedSchedules[schedule.rule.name] = schedule }

    package func removeSchedule(_ name: String) { storedSchedules[name] = nil }

    package func events(limit: Int) -> [HubEvent] { Array(unhandled.prefix(limit)) }

    /// Stores events that a change reports.
    func save(_ events: [HubEvent]) {
        for event in events {
            lastEvent += 1
            var event = event
            event.number = lastEvent
            unhandled.append(event)
        }
    }
}
