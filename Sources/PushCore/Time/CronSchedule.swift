/// Moments that come again by the calendar and the clocks of a time zone, in the language of cron: `30 9 * * MON-FRI`.
///
/// Minute, hour, day of the month, month and day of the week; each is `*`, a value, a range, a range with a step, or a list of such.
/// Months and weekdays have names too, Sunday is 0 and 7, and a range may go round: `FRI-MON`, `22-5`. `@hourly`, `@daily`, `@weekly`,
/// `@monthly` and `@yearly` stand for a whole schedule. Where neither day begins with `*`, either of them is enough, as in cron.
///
/// Where the clocks change:
/// - A time that they leave out fires when they are set forward, once, however many were left out. Where the hour begins with `*`
///   the time is passed over: what comes every hour comes again soon enough.
/// - A time that they show twice fires the first time. Where the hour or the minute begins with `*` it fires both times: what
///   comes every quarter of an hour goes on doing so.
package struct CronSchedule: Hashable, Sendable, CustomStringConvertible {
    /// As it was written.
    package let description: String

    /// A bit for each value.
    let minutes: UInt64
    let hours: UInt64
    let daysOfMonth: UInt64
    let months: UInt64
    /// 0 is Sunday.
    let daysOfWeek: UInt64
    let isAnyMinute: Bool
    let isAnyHour: Bool
    let isAnyDayOfMonth: Bool
    let isAnyDayOfWeek: Bool

    private static let nicknames = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *",
        "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]

    /// Characters that a schedule has at most.
    package static let maximumLength = 500

    /// Throws `cron.invalid`, naming the field, the value and what the field takes, also for a schedule that never fires.
    package init(_ text: String) throws(PushError) {
        guard text.utf8.count <= Self.maximumLength else {
            throw PushError(
                "cron.invalid", "the schedule is longer than \(Self.maximumLength) characters", hint: "make two of it", status: 400)
        }
        description = text
        let words = text.split { $0 == " " || $0 == "\t" }
        var fields = words
        if let word = words.first, words.count == 1, word.hasPrefix("@") {
            guard let meant = Self.nicknames[word.lowercased()] else {
                let near = nearest(String(word), in: Self.nicknames.keys)
                throw Self.wrong(
                    text, "there is no \(word)",
                    hint: near.map { "did you mean \($0)?" } ?? "there are @hourly, @daily, @weekly, @monthly and @yearly")
            }
            fields = meant.split(separator: " ")
        }
        guard fields.count == 5 else {
            throw Self.wrong(
                text, "it has \(fields.count) field\(fields.count == 1 ? "" : "s"), not five",
                hint: "write minute, hour, day of the month, month and day of the week, such as \"30 9 * * MON-FRI\"")
        }
        do throws(CronFault) {
            minutes = try CronField.minute.values(of: fields[0])
            hours = try CronField.hour.values(of: fields[1])
            daysOfMonth = try CronField.dayOfMonth.values(of: fields[2])
            months = try CronField.month.values(of: fields[3])
            daysOfWeek = try CronField.dayOfWeek.values(of: fields[4])
        } catch {
            throw Self.wrong(
                text, "its \(error.field.rawValue) cannot be \"\(error.value)\"", hint: error.cure,
                details: [
                    "field": .string(error.field.rawValue), "value": .string(error.value), "allowed": .string(error.field.allowed),
                ])
        }
        isAnyMinute = fields[0].hasPrefix("*")
        isAnyHour = fields[1].hasPrefix("*")
        isAnyDayOfMonth = fields[2].hasPrefix("*")
        isAnyDayOfWeek = fields[4].hasPrefix("*")
        guard hasDay else {
            throw Self.wrong(
                text, "it never fires: no month of it has such a day", hint: "the last day of February is 28, or 29 in a leap year")
        }
    }

    private static func wrong(_ text: String, _ reason: String, hint: String, details: [String: JSON] = [:]) -> PushError {
        PushError(
            "cron.invalid", "\"\(text)\" is no schedule: \(reason)", hint: hint, status: 400,
            details: details.merging(["schedule": .string(text)]) { own, _ in own })
    }

    /// Every weekday falls on every date within 40 years, 29 February too.
    private var hasDay: Bool {
        // With both days given, any of the weekdays is enough.
        if !isAnyDayOfMonth, !isAnyDayOfWeek { return true }
        return (1...12).contains { month in
            // 2000 was a leap year.
            months.has(month) && daysOfMonth.first(from: 1).map { $0 <= CivilDate.daysIn(month: month, year: 2000) } ?? false
        }
    }
}

// MARK: - What comes next

extension CronSchedule {
    /// The first moment after this one at which the schedule fires, on the whole second.
    ///
    /// Steps over days that do not fit and, where the month does not, over months: a hundred steps or so for what comes once a year,
    /// some thousand for 29 February on a given weekday.
    ///
    /// - Returns: nil where the year 9999 ends before that.
    package func next(after moment: Timestamp, in rules: TimeZoneRules) -> Timestamp? {
        guard moment < .distantFuture else { return nil }
        let second: Int64?
        if isAnyHour {
            second = nextShown(after: moment.seconds, in: rules)
        } else if isAnyMinute {
            second = [nextShown(after: moment.seconds, in: rules), nextReached(after: moment.seconds, in: rules)].compactMap(\.self).min()
        } else {
            second = nextReached(after: moment.seconds, in: rules)
        }
        return second.map { Timestamp(seconds: $0) }.flatMap { $0 <= .distantFuture ? $0 : nil }
    }

    /// The calendar repeats itself after 400 years.
    private static let horizon: Int64 = 146_097 * 86_400

    /// When the clocks show a time of the schedule, as often as they do.
    private func nextShown(after second: Int64, in rules: TimeZoneRules) -> Int64? {
        let end = second + Self.horizon
        var start = second + 1
        while start < end {
            let span = rules.span(at: start)
            let offset = Int64(span.offset.seconds)
            if let local = nextLocal(from: start + offset, before: min(span.end, end) + offset) { return local - offset }
            start = span.end
        }
        return nil
    }

    /// When the clocks first show a time of the schedule or, where they leave it out, a later one.
    private func nextReached(after second: Int64, in rules: TimeZoneRules) -> Int64? {
        // What they have shown already has fired.
        let start = rules.latestLocal(until: second) + 1
        return nextLocal(from: start, before: start + Self.horizon).map { rules.firstSecond(reaching: $0) }
    }

    /// The first local time of the schedule within these, in seconds as `LocalTime` counts them.
    private func nextLocal(from start: Int64, before end: Int64) -> Int64? {
        let minute = (start + 59).dividedDown(by: 60)
        var day = minute.dividedDown(by: 1440)
        var minuteOfDay = Int(minute - day * 1440)
        while day * 86_400 < end {
            let date = CivilDate(daysSince1970: day)
            if !months.has(date.month) {
                day += Int64(CivilDate.daysIn(month: date.month, year: date.year) - date.day + 1)
            } else if fires(on: date), let minute = firstMinute(from: minuteOfDay) {
                let local = day * 86_400 + Int64(minute) * 60
                return local < end ? local : nil
            } else {
                day += 1
            }
            minuteOfDay = 0
        }
        return nil
    }

    private func fires(on date: CivilDate) -> Bool {
        let (fitsMonth, fitsWeek) = (daysOfMonth.has(date.day), daysOfWeek.has(date.weekday))
        return isAnyDayOfMonth || isAnyDayOfWeek ? fitsMonth && fitsWeek : fitsMonth || fitsWeek
    }

    /// Minutes from midnight on.
    private func firstMinute(from minute: Int) -> Int? {
        guard let hour = hours.first(from: minute / 60) else { return nil }
        if hour == minute / 60, let found = minutes.first(from: minute % 60) { return hour * 60 + found }
        guard let hour = hours.first(from: minute / 60 + 1), let found = minutes.first(from: 0) else { return nil }
        return hour * 60 + found
    }
}

extension UInt64 {
    /// Whether the bit is there.
    func has(_ value: Int) -> Bool { self >> UInt64(value) & 1 == 1 }

    /// The first bit that is there, from `value` on.
    func first(from value: Int) -> Int? {
        let rest = self & (.max << UInt64(value))
        return rest == 0 ? nil : rest.trailingZeroBitCount
    }
}
