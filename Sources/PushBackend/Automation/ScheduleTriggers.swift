import PushModel

/// The cron schedules of flows: manages them, and starts the runs that are due. Part of the dispatcher's state.
final class ScheduleTriggers {
    private let catalog: FlowCatalog
    private let pool: RunPool
    private let inspector: FlowInspector
    private let clock: any HubClock
    private let zones: any TimeZoneSource
    private let start: FlowDispatcher.TaskStarter
    private let log: FlowLog
    /// By name.
    private var schedules: [String: StoredSchedule] = [:]
    private var alarm: Task<Void, Never>?
    private var isStartingDueRuns = false

    init(
        catalog: FlowCatalog, pool: RunPool, inspector: FlowInspector, clock: any HubClock, zones: any TimeZoneSource,
        start: @escaping FlowDispatcher.TaskStarter, log: FlowLog
    ) {
        self.catalog = catalog
        self.pool = pool
        self.inspector = inspector
        self.clock = clock
        self.zones = zones
        self.start = start
        self.log = log
    }

    // MARK: - Managing schedules

    /// All schedules, ordered by name.
    var sorted: [StoredSchedule] { schedules.values.sorted { $0.rule.name < $1.rule.name } }

    /// Throws `schedule.not_found` (404).
    func schedule(_ name: String) throws(PushError) -> StoredSchedule {
        if let schedule = schedules[name] { return schedule }
        let near = nearest(name, in: schedules.keys)
        throw PushError(
            "schedule.not_found", "unknown schedule \"\(name.prefix(80))\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: "list them with pushhost schedule list", status: 404)
    }

    /// Loads the stored schedules.
    func load() async throws(PushError) {
        for schedule in try await pool.store.schedules(startingFrom: clock.now) { schedules[schedule.rule.name] = schedule }
    }

    func removeAll() { schedules = [:] }

    func add(_ rule: ScheduleRule, on dispatcher: isolated FlowDispatcher) async throws(PushError) -> StoredSchedule {
        try checkName(rule.name)
        _ = try zones.rules(of: rule.timeZone)
        let checked = try await inspector.executor.check(
            try catalog.flow(rule.flow).arguments(rule.arguments), for: try catalog.flow(rule.flow))
        if let name = checked.secrets.first(where: { rule.arguments[$0] != nil }) { throw Self.secret(name, of: rule) }
        try checkName(rule.name)
        let schedule = StoredSchedule(rule: rule, isConfigured: false, handledUntil: clock.now)
        // Reserve the name before suspending.
        schedules[rule.name] = schedule
        do throws(PushError) {
            try await pool.store.save(schedule)
        } catch {
            schedules[rule.name] = nil
            throw error
        }
        setAlarm(on: dispatcher)
        return schedule
    }

    private static func secret(_ name: String, of rule: ScheduleRule) -> PushError {
        PushError(
            "schedule.secret", "\(name) of \(rule.flow) is secret, but the arguments of the schedule \(rule.name) are stored on disk",
            hint: "read it in the script with push.secret, or set it in the flow's settings", status: 400)
    }

    private func checkName(_ name: String) throws(PushError) {
        guard ServedFlow.isName(name) else {
            throw PushError(
                "schedule.name", "\"\(name.prefix(80))\" is not a valid schedule name",
                hint: "use at most 60 letters, digits, - and _, starting with a letter or digit", status: 400)
        }
        guard let known = schedules[name] else { return }
        throw PushError(
            "schedule.exists", "schedule \(name) already exists: \(known.rule.cron) \(known.rule.timeZone), for \(known.rule.flow)",
            hint: known.isConfigured ? "the settings file defines it; choose another name" : "remove it first, or choose another name",
            status: 409)
    }

    func pause(_ name: String, _ isPaused: Bool, on dispatcher: isolated FlowDispatcher) async throws(PushError) -> StoredSchedule {
        var schedule = try schedule(name)
        guard schedule.isPaused != isPaused else { return schedule }
        let before = schedule
        (schedule.isPaused, schedule.handledUntil) = (isPaused, clock.now)
        schedules[name] = schedule
        do throws(PushError) {
            try await pool.store.save(schedule)
        } catch {
            if schedules[name] == schedule { schedules[name] = before }
            throw error
        }
        setAlarm(on: dispatcher)
        return schedule
    }

    func remove(_ name: String, on dispatcher: isolated FlowDispatcher) async throws(PushError) {
        let schedule = try schedule(name)
        guard !schedule.isConfigured else {
            throw PushError(
                "schedule.configured", "\(name) is defined in the settings file", hint: "remove it there, or pause it", status: 409)
        }
        schedules[name] = nil
        do throws(PushError) {
            try await pool.store.removeSchedule(name)
        } catch {
            if schedules[name] == nil { schedules[name] = schedule }
            throw error
        }
        setAlarm(on: dispatcher)
    }

    /// Applies the schedules of the settings file. Schedules that were added by command or API remain.
    func apply(_ rules: [ScheduleRule]) async throws(PushError) {
        let configured = Dictionary(rules.map { ($0.name, $0) }) { first, _ in first }
        for (name, known) in schedules where known.isConfigured && configured[name] == nil {
            try await pool.store.removeSchedule(name)
            schedules[name] = nil
        }
        for (name, rule) in configured {
            let known = schedules[name]
            guard known?.rule != rule || known?.isConfigured != true else { continue }
            if let flow = catalog[rule.flow], !rule.arguments.isEmpty, (try? await inspector.executor.parameters(of: flow)) != nil,
                let name = await inspector.secrets(of: flow, among: rule.arguments).sorted().first
            {
                let error = Self.secret(name, of: rule)
                log.note(.error, flow: rule.flow, "\(error.message); the schedule is ignored; \(error.hint ?? "")")
                continue
            }
            if let known, !known.isConfigured {
                log.note(
                    .warning, flow: rule.flow,
                    "the schedule \(name) of the settings file replaces one that was added: \(known.rule.cron)")
            }
            // With another cron rule or time zone, due times before now do not count as missed.
            let isSameTime = known.map { $0.rule.cron == rule.cron && $0.rule.timeZone == rule.timeZone } ?? false
            let schedule = StoredSchedule(
                rule: rule, isConfigured: true, isPaused: known?.isPaused ?? false,
                handledUntil: isSameTime ? known?.handledUntil ?? clock.now : clock.now)
            try await pool.store.save(schedule)
            schedules[name] = schedule
        }
    }

    // MARK: - Due times

    /// Sets the alarm for the earliest due time of all schedules.
    private func setAlarm(on dispatcher: isolated FlowDispatcher) {
        cancelAlarm()
        guard !pool.isStopping else { return }
        let next = schedules.values.compactMap { schedule -> Timestamp? in
            guard !schedule.isPaused, catalog[schedule.rule.flow] != nil else { return nil }
            return (try? DueTimes(schedule.rule, zones))?.next(after: schedule.handledUntil)
        }.min()
        guard let next else { return }
        alarm = start { [weak dispatcher, clock] in
            guard (try? await clock.sleep(until: next)) != nil else { return }
            await dispatcher?.startDueRuns()
        }
    }

    func cancelAlarm() {
        alarm?.cancel()
        alarm = nil
    }

    /// Starts the runs that are due, and sets the alarm for the next.
    func startDueRuns(on dispatcher: isolated FlowDispatcher) async {
        guard !isStartingDueRuns, !pool.isStopping else { return }
        isStartingDueRuns = true
        defer {
            isStartingDueRuns = false
            setAlarm(on: dispatcher)
        }
        while !pool.isStopping, let (drafts, handledUntil) = due() {
            do throws(PushError) {
                let added = try await pool.add(drafts, RunCause(handledUntil: handledUntil.mapValues(\.time)))
                for (name, (time, rule)) in handledUntil {
                    // The schedule may have been replaced or paused meanwhile.
                    guard let schedule = schedules[name], schedule.rule == rule, schedule.handledUntil < time else { continue }
                    schedules[name]?.handledUntil = time
                }
                pool.enqueue(added.filter { !$0.isRepeated }.map(\.run), on: dispatcher)
            } catch {
                log.note(.error, flow: "", "cannot store runs that are due: \(error.message); retrying")
                guard (try? await clock.sleep(until: clock.now + RunPool.pause)) != nil else { return }
            }
        }
    }

    private typealias HandledTimes = [String: (time: Timestamp, rule: ScheduleRule)]

    /// The runs that are due, and for each schedule the time up to which they cover it; nil if no schedule is due.
    private func due() -> ([RunRecord], HandledTimes)? {
        let now = clock.now
        var (drafts, handledUntil, ahead) = ([RunRecord](), HandledTimes(), [String: Int]())
        for schedule in sorted where !schedule.isPaused {
            let rule = schedule.rule
            guard let flow = catalog[rule.flow], let times = try? DueTimes(rule, zones),
                let first = times.next(after: schedule.handledUntil),
                first <= now
            else { continue }
            handledUntil[rule.name] = (now, rule)
            let found = times.found(after: schedule.handledUntil, until: now)
            if found.isCut {
                log.note(
                    .warning, flow: rule.flow, "\(rule.name) missed more than \(DueTimes.maximumMissedRuns) runs; later ones are skipped")
            }
            for (time, isMissed) in found.missed.map({ ($0, true) }) + found.onTime.map({ ($0, false) }) {
                // Missed runs are made up for one after the other.
                let overlap = isMissed && rule.missed == .all ? OverlapPolicy.queue : nil
                let origin = RunOrigin(
                    .schedule(name: rule.name, dueTime: time), key: "schedule \(rule.name) \(time.milliseconds)",
                    arguments: catalog.storableArguments(of: flow, rule.arguments))
                drafts.append(pool.draft(of: flow, origin, overlap: overlap, ahead: ahead[flow.name, default: 0]))
                if drafts.last?.state == .queued { ahead[flow.name, default: 0] += 1 }
            }
        }
        return handledUntil.isEmpty ? nil : (drafts, handledUntil)
    }
}
