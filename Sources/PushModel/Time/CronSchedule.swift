/// Recurring times in a time zone, in cron syntax: `30 9 * * MON-FRI`.
///
/// The fields are minute, hour, day of the month, month and day of the week. Each is `*`, a value, a range, a range with a step, or a list
/// of these. Months and weekdays also have names, Sunday is 0 and 7, and a range may wrap around: `FRI-MON`, `22-5`. `@hourly`, `@daily`,
/// `@weekly`, `@monthly` and `@yearly` stand for a whole schedule. If neither day field starts with `*`, a day that matches either one is
/// enough, as in cron.
///
/// When the clocks change:
/// - Times skipped by a forward change fire once, at the change, however many were skipped. If the hour starts with `*`, they do not fire:
///   the next time follows soon.
/// - A time that occurs twice fires the first time. If the hour or the minute starts with `*`, it fires both times, so that a schedule such
///   as every quarter of an hour keeps its interval.
package struct CronSchedule: Hashable, Sendable, CustomStringConvertible {
    /// The text as written.
    package let description: String

    /// Bit sets of the values.
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

    /// Maximum number of characters.
    package static let maximumLength = 500

    /// Throws `cron.invalid` with the field, the value and the allowed values, also for a schedule that never fires.
    package init(_ text: String) throws(PushError) {
        guard text.utf8.count <= Self.maximumLength else {
            throw PushError(
                "cron.invalid", "the schedule is longer than \(Self.maximumLength) characters", hint: "split it into two schedules",
                status: 400)
        }
        description = text
        let words = text.split { $0 == " " || $0 == "\t" }
        var fields = words
        if let word = words.first, words.count == 1, word.hasPrefix("@") {
            guard let meant = Self.nicknames[word.lowercased()] else {
                let near = nearest(String(word), in: Self.nicknames.keys)
                throw Self.wrong(
                    text, "unknown nickname \(word)",
                    hint: near.map { "did you mean \($0)?" } ?? "use @hourly, @daily, @weekly, @monthly or @yearly")
            }
            fields = meant.split(separator: " ")
        }
        guard fields.count == 5 else {
            throw Self.wrong(
                text, "it has \(fields.count) field\(fields.count == 1 ? "" : "s"), not five",
                hint: "write minute, hour, day of the month, month and day of the week, such as \"30 9 * * MON-FRI\"")
        }
        do throws(CronFieldError) {
            minutes = try CronField.minute.values(of: fields[0])
            hours = try CronField.hour.values(of: fields[1])
            daysOfMonth = try CronField.dayOfMonth.values(of: fields[2])
            months = try CronField.month.values(of: fields[3])
            daysOfWeek = try CronField.dayOfWeek.values(of: fields[4])
        } catch {
            throw Self.wrong(
                text, "\(error.field.rawValue) \"\(error.value)\" is not allowed", hint: error.fix,
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
                text, "it never fires: none of its months has such a day", hint: "February ends on day 28, or 29 in a leap year")
        }
    }

    private static func wrong(_ text: String, _ reason: String, hint: String, details: [String: JSON] = [:]) -> PushError {
        PushError(
            "cron.invalid", "invalid cron expression \"\(text)\": \(reason)", hint: hint, status: 400,
            details: details.merging(["schedule": .string(text)]) { own, _ in own })
    }

    /// Whether any day matches. Every weekday falls on every date within 40 years, including 29 February.
    private var hasDay: Bool {
        // If both day fields are restricted, any weekday is enough.
        if !isAnyDayOfMonth, !isAnyDayOfWeek { return true }
        return (1...12).contains { month in
            // 2000 was a leap year, so 29 February counts as a valid day.
            months.has(month) && daysOfMonth.first(from: 1).map { $0 <= CivilDate.daysIn(month: month, year: 2000) } ?? false
        }
    }
}

// MARK: - Next time

extension CronSchedule {
    /// The first time after `time` at which the schedule fires, on a full second.
    ///
    /// Skips days and months that do not match: about a hundred steps for a yearly schedule, a few thousand for 29 February on a given
    /// weekday.
    ///
    /// - Returns: nil if there is none before the end of the year 9999.
    package func next(after time: Timestamp, in rules: TimeZoneRules) -> Timestamp? {
        guard time < .distantFuture else { return nil }
        let second: Int64?
        if isAnyHour {
            second = nextShown(after: time.seconds, in: rules)
        } else if isAnyMinute {
            second = [nextShown(after: time.seconds, in: rules), nextReached(after: time.seconds, in: rules)].compactMap(\.self).min()
        } else {
            second = nextReached(after: time.seconds, in: rules)
        }
        return second.map { Timestamp(seconds: $0) }.flatMap { $0 <= .distantFuture ? $0 : nil }
    }

    /// The Gregorian calendar repeats after 400 years.
    private static let horizon: Int64 = 146_097 * 86_400

    /// The next time at which the clocks show a scheduled time, including repeated ones.
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

    /// The next time at which the clocks first show a scheduled time or, if they skip it, a later one.
    private func nextReached(after second: Int64, in rules: TimeZoneRules) -> Int64? {
        // Times that the clocks have already shown have fired.
        let start = rules.latestLocal(until: second) + 1
        return nextLocal(from: start, before: start + Self.horizon).map { rules.firstSecond(reaching: $0) }
    }

    /// The first scheduled local time in this range, in seconds as in `LocalTime`.
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

    /// The first scheduled minute of the day at or after `minute`, counted from midnight.
    private func firstMinute(from minute: Int) -> Int? {
        guard let hour = hours.first(from: minute / 60) else { return nil }
        if hour == minute / 60, let found = minutes.first(from: minute % 60) { return hour * 60 + found }
        guard let hour = hours.first(from: minute / 60 + 1), let found = minutes.first(from: 0) else { return nil }
        return hour * 60 + found
    }
}

extension UInt64 {
    /// Whether the bit is set.
    func has(_ value: Int) -> Bool { self >> UInt64(value) & 1 == 1 }

    /// The first bit set at or after `value`.
    func first(from value: Int) -> Int? {
        let rest = self & (.max << UInt64(value))
        return rest == 0 ? nil : rest.trailingZeroBitCount
    }
}
