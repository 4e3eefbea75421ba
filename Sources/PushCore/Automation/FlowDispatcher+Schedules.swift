// What the clock starts.
extension FlowDispatcher {
    /// A moment that was heard so much late was not missed.
    private static let grace: Duration = .seconds(60)
    /// Of missed moments that are all made up for, so many at most.
    private static let mostMissed = 1000

    // MARK: - The list of schedules

    /// In the order of their names.
    package var keptSchedules: [KeptSchedule] { schedules.values.sorted { $0.rule.name < $1.rule.name } }

    /// Throws `schedule.not_found` (404).
    package func schedule(_ name: String) throws(PushError) -> KeptSchedule {
        if let schedule = schedules[name] { return schedule }
        let near = nearest(name, in: schedules.keys)
        throw PushError(
            "schedule.not_found", "there is no schedule \"\(name.prefix(80))\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: "pushhost schedule list shows those there are", status: 404)
    }

    /// The moments at which a schedule comes next, as if it were not paused. Throws `time_zone.*`.
    package func moments(of rule: ScheduleRule, count: Int) throws(PushError) -> [Timestamp] {
        let rules = try zones.rules(of: rule.timeZone)
        var (moments, last) = ([Timestamp](), clock.now)
        while moments.count < count, let next = rule.cron.next(after: last, in: rules) {
            moments.append(next)
            last = next
        }
        return moments
    }

    /// Adds a schedule, which begins with what comes from now on. Throws `schedule.exists` (409), `flow.not_found` (404), `time_zone.*`, and
    /// `args.invalid` (400) where the flow would not take what it is given.
    package func add(_ rule: ScheduleRule) async throws(PushError) -> KeptSchedule {
        try checkIsOpen()
        try checkName(rule.name)
        _ = try zones.rules(of: rule.timeZone)
        let checked = try await executor.check(arguments(of: try flow(rule.flow), rule.arguments), for: try flow(rule.flow))
        if let name = checked.secrets.first(where: { rule.arguments[$0] != nil }) { throw Self.secret(name, of: rule) }
        try checkName(rule.name)
        let schedule = KeptSchedule(rule: rule, isConfigured: false, heard: clock.now)
        // Taken at once, so that nobody else takes the name meanwhile.
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
            "schedule.secret", "\(name) of \(rule.flow) is secret, and what the schedule \(rule.name) gives is kept on disk",
            hint: "let the script read it with push.secret, or give it in the settings of the flow", status: 400)
    }

    private func checkName(_ name: String) throws(PushError) {
        guard ServedFlow.isName(name) else {
            throw PushError(
                "schedule.name", "\"\(name.prefix(80))\" cannot be the name of a schedule",
                hint: "use letters, digits, - and _, at most 60, beginning with a letter or a digit", status: 400)
        }
        guard let known = schedules[name] else { return }
        throw PushError(
            "schedule.exists", "there is a schedule \(name) already: \(known.rule.cron) \(known.rule.timeZone), for \(known.rule.flow)",
            hint: known.isConfigured ? "it stands in the settings file; choose another name" : "remove it first, or choose another name",
            status: 409)
    }

    /// What comes while a schedule is paused is not made up for. Throws `schedule.not_found` (404).
    package func pause(_ name: String, _ isPaused: Bool) async throws(PushError) -> KeptSchedule {
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

    /// Throws `schedule.not_found` (404), and `schedule.configured` (409) for one of the settings file.
    package func remove(schedule name: String) async throws(PushError) {
        try checkIsOpen()
        let schedule = try schedule(name)
        guard !schedule.isConfigured else {
            throw PushError(
                "schedule.configured", "\(name) stands in the settings file", hint: "take it out there, or pause it", status: 409)
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

    /// Makes the schedules of the settings file those of the server; others stay.
    func takeSchedules(_ rules: [ScheduleRule]) async throws(PushError) {
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
                tell(FlowNews(level: .error, flow: rule.flow, text: "\(error.message): the schedule is left out; \(error.hint ?? "")"))
                continue
            }
            if let known, !known.isConfigured {
                tell(
                    FlowNews(
                        level: .warning, flow: rule.flow,
                        text: "the schedule \(name) of the settings file takes the place of one that was added: \(known.rule.cron)"))
            }
            // What another rule would have done before does not count.
            let isSameTime = known.map { $0.rule.cron == rule.cron && $0.rule.timeZone == rule.timeZone } ?? false
            let schedule = KeptSchedule(
                rule: rule, isConfigured: true, isPaused: known?.isPaused ?? false,
                heard: isSameTime ? known?.heard ?? clock.now : clock.now)
            try await store.keep(schedule)
            schedules[name] = schedule
        }
    }

    // MARK: - The clock

    /// Waits for the next moment of all.
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

    /// Has flows start for the moments that have come.
    func ring() async {
        guard !isRinging, !isStopping else { return }
        isRinging = true
        defer {
            isRinging = false
            rearm()
        }
        while !isStopping, let (drafts, heard) = due() {
            do throws(PushError) {
                let added = try await add(drafts, RunCause(heard: heard.mapValues(\.moment)))
                for (name, (moment, rule)) in heard {
                    // It may have been written anew, or paused, meanwhile.
                    guard let schedule = schedules[name], schedule.rule == rule, schedule.heard < moment else { continue }
                    schedules[name]?.heard = moment
                }
                enqueue(added.filter { !$0.isRepeated }.map(\.run))
            } catch {
                tell(FlowNews(level: .error, flow: "", text: "runs that are due cannot be kept: \(error.message); it is tried again"))
                guard (try? await clock.sleep(until: clock.now + Self.pause)) != nil else { return }
            }
        }
    }

    private typealias Heard = [String: (moment: Timestamp, rule: ScheduleRule)]

    /// The runs of moments that have come, and up to when each of their schedules is dealt with then; nil where none has.
    private func due() -> ([RunRecord], Heard)? {
        let now = clock.now
        var (drafts, heard, ahead) = ([RunRecord](), Heard(), [String: Int]())
        for schedule in keptSchedules where !schedule.isPaused {
            let rule = schedule.rule
            guard let flow = flows[rule.flow], let rules = try? zones.rules(of: rule.timeZone),
                let first = rule.cron.next(after: schedule.heard, in: rules), first <= now
            else { continue }
            heard[rule.name] = (now, rule)
            let (missed, onTime) = wanted(of: rule, after: schedule.heard, until: now, in: rules)
            for (moment, isMissed) in missed.map({ ($0, true) }) + onTime.map({ ($0, false) }) {
                // Those that are made up for come one after the other.
                let overlap = isMissed && rule.missed == .all ? OverlapPolicy.queue : nil
                drafts.append(
                    draft(
                        of: flow, .schedule(name: rule.name, moment: moment), keptArguments(of: flow, rule.arguments),
                        key: "schedule \(rule.name) \(moment.milliseconds)", overlap: overlap, ahead: ahead[flow.name, default: 0]))
                if drafts.last?.state == .queued { ahead[flow.name, default: 0] += 1 }
            }
        }
        return heard.isEmpty ? nil : (drafts, heard)
    }

    /// The moments that have come since: of those that nobody heard in time the ones that are made up for, and all others.
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
            let missed = moments(of: rule, after: heard, until: before, in: rules, limit: Self.mostMissed + 1)
            if missed.count > Self.mostMissed {
                tell(
                    FlowNews(
                        level: .warning, flow: rule.flow,
                        text: "\(rule.name) missed more than \(Self.mostMissed) moments: those behind them are passed over"))
            }
            return (Array(missed.prefix(Self.mostMissed)), onTime)
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

    /// The last moment of a span, looked for from its end: there may be very many.
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
