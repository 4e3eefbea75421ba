import PushModel

// Cron schedules of flows.
extension FlowDispatcher {
    /// A due time handled with at most this delay counts as on time, not as missed.
    private static let grace: Duration = .seconds(60)
    /// Maximum number of missed runs that `missed: all` catches up on.
    private static let maximumMissedRuns = 1000

    // MARK: - Managing schedules

    /// All schedules, ordered by name.
    package var sortedSchedules: [StoredSchedule] { schedules.values.sorted { $0.rule.name < $1.rule.name } }

    /// Throws `schedule.not_found` (404).
    package func schedule(_ name: String) throws(PushError) -> StoredSchedule {
        if let schedule = schedules[name] { return schedule }
        let near = nearest(name, in: schedules.keys)
        throw PushError(
            "schedule.not_found", "there is no schedule \"\(name.prefix(80))\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: "list them with pushhost schedule list", status: 404)
    }

    /// The next `count` due times of a schedule, ignoring whether it is paused. Throws `time_zone.*`.
    package func moments(of rule: ScheduleRule, count: Int) throws(PushError) -> [Timestamp] {
        let rules = try zones.rules(of: rule.timeZone)
        var (moments, last) = ([Timestamp](), clock.now)
        while moments.count < count, let next = rule.cron.next(after: last, in: rules) {
            moments.append(next)
            last = next
        }
        return moments
    }

    /// Adds a schedule; due times count from now on. Throws `schedule.exists` (409), `flow.not_found` (404), `time_zone.*`, and
    /// `args.invalid` (400) if the flow does not accept the arguments.
    package func add(_ rule: ScheduleRule) async throws(PushError) -> StoredSchedule {
        try checkIsOpen()
        try checkName(rule.name)
        _ = try zones.rules(of: rule.timeZone)
        let checked = try await executor.check(arguments(of: try flow(rule.flow), rule.arguments), for: try flow(rule.flow))
        if let name = checked.secrets.first(where: { rule.arguments[$0] != nil }) { throw Self.secret(name, of: rule) }
        try checkName(rule.name)
        let schedule = StoredSchedule(rule: rule, isConfigured: false, heard: clock.now)
        // Reserve the name before suspending.
        schedules[rule.name] = schedule
        do throws(PushError) {
            try await store.keep(schedule)
        } catch {
            schedules[rule.name] = nil
            throw error
        }
        rearm()
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

    /// Pauses or resumes a schedule. Due times during the pause are skipped. Throws `schedule.not_found` (404).
    package func pause(_ name: String, _ isPaused: Bool) async throws(PushError) -> StoredSchedule {
        try checkIsOpen()
        var schedule = try schedule(name)
        guard schedule.isPaused != isPaused else { return schedule }
        let before = schedule
        (schedule.isPaused, schedule.heard) = (isPaused, clock.now)
        schedules[name] = schedule
        do throws(PushError) {
            try await store.keep(schedule)
        } catch {
            if schedules[name] == schedule { schedules[name] = before }
            throw error
        }
        rearm()
        return schedule
    }

    /// Removes a schedule. Throws `schedule.not_found` (404), and `schedule.configured` (409) if the settings file defines it.
    package func remove(schedule name: String) async throws(PushError) {
        try checkIsOpen()
        let schedule = try schedule(name)
        guard !schedule.isConfigured else {
            throw PushError(
                "schedule.configured", "\(name) is defined in the settings file", hint: "remove it there, or pause it", status: 409)
        }
        schedules[name] = nil
        do throws(PushError) {
            try await store.removeSchedule(name)
        } catch {
            if schedules[name] == nil { schedules[name] = schedule }
            throw error
        }
        rearm()
    }

    /// Applies the schedules of the settings file. Schedules that were added by command or API remain.
    func applySchedules(_ rules: [ScheduleRule]) async throws(PushError) {
        let configured = Dictionary(rules.map { ($0.name, $0) }) { first, _ in first }
        for (name, known) in schedules where known.isConfigured && configured[name] == nil {
            try await store.removeSchedule(name)
            schedules[name] = nil
        }
        for (name, rule) in configured {
            let known = schedules[name]
            guard known?.rule != rule || known?.isConfigured != true else { continue }
            if let flow = flows[rule.flow], !rule.arguments.isEmpty, (try? await executor.parameters(of: flow)) != nil,
                let name = await secrets(of: flow, among: rule.arguments).sorted().first
            {
                let error = Self.secret(name, of: rule)
                tell(FlowLogEntry(level: .error, flow: rule.flow, text: "\(error.message); the schedule is ignored; \(error.hint ?? "")"))
                continue
            }
            if let known, !known.isConfigured {
                tell(
                    FlowLogEntry(
                        level: .warning, flow: rule.flow,
                        text: "the schedule \(name) of the settings file replaces one that was added: \(known.rule.cron)"))
            }
            // With another cron rule or time zone, due times before now do not count as missed.
            let isSameTime = known.map { $0.rule.cron == rule.cron && $0.rule.timeZone == rule.timeZone } ?? false
            let schedule = StoredSchedule(
                rule: rule, isConfigured: true, isPaused: known?.isPaused ?? false,
                heard: isSameTime ? known?.heard ?? clock.now : clock.now)
            try await store.keep(schedule)
            schedules[name] = schedule
        }
    }

    // MARK: - Due times

    /// Sets the alarm for the earliest due time of all schedules.
    func rearm() {
        alarm?.cancel()
        alarm = nil
        guard !isStopping else { return }
        let next = schedules.values.compactMap { schedule -> Timestamp? in
            guard !schedule.isPaused, flows[schedule.rule.flow] != nil, let rules = try? zones.rules(of: schedule.rule.timeZone) else {
                return nil
            }
            return schedule.rule.cron.next(after: schedule.heard, in: rules)
        }.min()
        guard let next else { return }
        alarm = start { [weak self, clock] in
            guard (try? await clock.sleep(until: next)) != nil else { return }
            await self?.ring()
        }
    }

    /// Starts the runs that are due.
    func ring() async {
        guard !isStartingDueRuns, !isStopping else { return }
        isStartingDueRuns = true
        defer {
            isStartingDueRuns = false
            rearm()
        }
        while !isStopping, let (drafts, heard) = due() {
            do throws(PushError) {
                let added = try await add(drafts, RunCause(heard: heard.mapValues(\.moment)))
                for (name, (moment, rule)) in heard {
                    // The schedule may have been replaced or paused meanwhile.
                    guard let schedule = schedules[name], schedule.rule == rule, schedule.heard < moment else { continue }
                    schedules[name]?.heard = moment
                }
                enqueue(added.filter { !$0.isRepeated }.map(\.run))
            } catch {
                tell(FlowLogEntry(level: .error, flow: "", text: "cannot store runs that are due: \(error.message); retrying"))
                guard (try? await clock.sleep(until: clock.now + Self.pause)) != nil else { return }
            }
        }
    }

    private typealias Heard = [String: (moment: Timestamp, rule: ScheduleRule)]

    /// The runs that are due, and for each schedule the time up to which they cover it; nil if no schedule is due.
    private func due() -> ([RunRecord], Heard)? {
        let now = clock.now
        var (drafts, heard, ahead) = ([RunRecord](), Heard(), [String: Int]())
        for schedule in sortedSchedules where !schedule.isPaused {
            let rule = schedule.rule
            guard let flow = flows[rule.flow], let rules = try? zones.rules(of: rule.timeZone),
                let first = rule.cron.next(after: schedule.heard, in: rules), first <= now
            else { continue }
            heard[rule.name] = (now, rule)
            let (missed, onTime) = wanted(of: rule, after: schedule.heard, until: now, in: rules)
            for (moment, isMissed) in missed.map({ ($0, true) }) + onTime.map({ ($0, false) }) {
                // Missed runs are made up for one after the other.
                let overlap = isMissed && rule.missed == .all ? OverlapPolicy.queue : nil
                drafts.append(
                    draft(
                        of: flow, .schedule(name: rule.name, moment: moment), storableArguments(of: flow, rule.arguments),
                        key: "schedule \(rule.name) \(moment.milliseconds)", overlap: overlap, ahead: ahead[flow.name, default: 0]))
                if drafts.last?.state == .queued { ahead[flow.name, default: 0] += 1 }
            }
        }
        return heard.isEmpty ? nil : (drafts, heard)
    }

    /// The due times since `heard`: missed ones that the schedule's policy makes up for, and those that are on time.
    private func wanted(
        of rule: ScheduleRule, after heard: Timestamp, until now: Timestamp, in rules: TimeZoneRules
    ) -> (missed: [Timestamp], onTime: [Timestamp]) {
        let late = Timestamp(milliseconds: now.milliseconds - Self.grace.milliseconds)
        let onTime = moments(of: rule, after: max(heard, Timestamp(milliseconds: late.milliseconds - 1)), until: now, in: rules)
        guard heard < late else { return (missed: [], onTime: onTime) }
        let before = Timestamp(milliseconds: late.milliseconds - 1)
        switch rule.missed {
        case .skip: return ([], onTime)
        case .once: return (last(of: rule, after: heard, until: before, in: rules).map { [$0] } ?? [], onTime)
        case .all:
            let missed = moments(of: rule, after: heard, until: before, in: rules, limit: Self.maximumMissedRuns + 1)
            if missed.count > Self.maximumMissedRuns {
                tell(
                    FlowLogEntry(
                        level: .warning, flow: rule.flow,
                        text: "\(rule.name) missed more than \(Self.maximumMissedRuns) runs; later ones are skipped"))
            }
            return (Array(missed.prefix(Self.maximumMissedRuns)), onTime)
        }
    }

    private func moments(
        of rule: ScheduleRule, after start: Timestamp, until end: Timestamp, in rules: TimeZoneRules, limit: Int = .max
    ) -> [Timestamp] {
        var (moments, last) = ([Timestamp](), start)
        while moments.count < limit, let next = rule.cron.next(after: last, in: rules), next <= end {
            moments.append(next)
            last = next
        }
        return moments
    }

    /// The last due time in a span. Searches backwards, because the span may contain very many.
    private func last(of rule: ScheduleRule, after start: Timestamp, until end: Timestamp, in rules: TimeZoneRules) -> Timestamp? {
        var span: Int64 = 3_600_000
        while true {
            let from = max(start, Timestamp(milliseconds: end.milliseconds.addingSaturated(-span)))
            if let last = moments(of: rule, after: from, until: end, in: rules).last { return last }
            guard from > start else { return nil }
            span *= 16
        }
    }
}
