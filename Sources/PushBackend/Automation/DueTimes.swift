import PushModel

/// Computes the due times of a schedule in its time zone.
struct DueTimes {
    /// A due time handled with at most this delay counts as on time, not as missed.
    private static let grace: Duration = .seconds(60)
    /// Maximum number of missed runs that `missed: all` catches up on.
    static let maximumMissedRuns = 1000

    /// Due times since the last that was handled.
    struct Found {
        /// Missed ones that the schedule's policy makes up for.
        var missed: [Timestamp] = []
        var onTime: [Timestamp]
        /// Whether more were missed than are made up for.
        var isCut = false
    }

    let rule: ScheduleRule
    let zone: TimeZoneRules

    init(_ rule: ScheduleRule, _ zones: any TimeZoneSource) throws(PushError) {
        self.rule = rule
        zone = try zones.rules(of: rule.timeZone)
    }

    func next(after time: Timestamp) -> Timestamp? { rule.cron.next(after: time, in: zone) }

    /// The next `count` due times.
    func next(_ count: Int, after time: Timestamp) -> [Timestamp] {
        var (times, last) = ([Timestamp](), time)
        while times.count < count, let next = next(after: last) {
            times.append(next)
            last = next
        }
        return times
    }

    /// The due times after `handledUntil` until now.
    func found(after handledUntil: Timestamp, until now: Timestamp) -> Found {
        let late = Timestamp(milliseconds: now.milliseconds - Self.grace.milliseconds)
        let onTime = times(after: max(handledUntil, Timestamp(milliseconds: late.milliseconds - 1)), until: now)
        guard handledUntil < late else { return Found(onTime: onTime) }
        let before = Timestamp(milliseconds: late.milliseconds - 1)
        switch rule.missed {
        case .skip: return Found(onTime: onTime)
        case .once: return Found(missed: last(after: handledUntil, until: before).map { [$0] } ?? [], onTime: onTime)
        case .all:
            let missed = times(after: handledUntil, until: before, limit: Self.maximumMissedRuns + 1)
            return Found(
                missed: Array(missed.prefix(Self.maximumMissedRuns)), onTime: onTime, isCut: missed.count > Self.maximumMissedRuns)
        }
    }

    private func times(after start: Timestamp, until end: Timestamp, limit: Int = .max) -> [Timestamp] {
        var (times, last) = ([Timestamp](), start)
        while times.count < limit, let next = next(after: last), next <= end {
            times.append(next)
            last = next
        }
        return times
    }

    /// The last due time in a span. Searches backwards, because the span may contain very many.
    private func last(after start: Timestamp, until end: Timestamp) -> Timestamp? {
        var span: Int64 = 3_600_000
        while true {
            let from = max(start, Timestamp(milliseconds: end.milliseconds.addingSaturated(-span)))
            if let last = times(after: from, until: end).last { return last }
            guard from > start else { return nil }
            span *= 16
        }
    }
}
