/// Describes a schedule for people: `at 09:30 on Monday to Friday in January`.
package struct CronDescription: Sendable {
    private let schedule: CronSchedule

    package init(_ schedule: CronSchedule) { self.schedule = schedule }

    package var text: String { [timeWords, dayWords, monthWords].compactMap(\.self).joined(separator: " ") }

    private var timeWords: String {
        let (minutes, hours) = (schedule.minutes.values, schedule.hours.values)
        let isEveryHour = hours.count == 24
        let clockTimes = minutes.count * hours.count
        if !isEveryHour, clockTimes <= 6 {
            let times = hours.flatMap { hour in minutes.map { "\(hour.padded(2)):\($0.padded(2))" } }
            return "at \(Self.list(times))"
        }
        let ofHours = "of \(hours.count == 1 ? "hour" : "the hours") \(Self.runs(hours))"
        if isEveryHour, minutes == [0] { return "every hour" }
        guard let step = Self.step(minutes) else {
            let ofMinutes = "at minute\(minutes.count == 1 ? "" : "s") \(Self.runs(minutes))"
            return "\(ofMinutes) \(isEveryHour ? "of every hour" : ofHours)"
        }
        return "every \(step == 1 ? "minute" : "\(step) minutes")\(isEveryHour ? "" : " \(ofHours)")"
    }

    private var dayWords: String? {
        let week = schedule.daysOfWeek.values.count == 7 ? nil : Self.runs(schedule.daysOfWeek.values, from: 0, Self.weekdays)
        let days = schedule.daysOfMonth.values
        let month = days.count == 31 ? nil : "day\(days.count == 1 ? "" : "s") \(Self.runs(days)) of the month"
        switch (month, week) {
        // Either day field is enough, and one of them includes every day.
        case _ where !schedule.isAnyDayOfMonth && !schedule.isAnyDayOfWeek && (month == nil || week == nil), (nil, nil):
            return schedule.hours.values.count == 24 ? nil : "every day"
        case (let month?, let week?):
            return schedule.isAnyDayOfMonth || schedule.isAnyDayOfWeek ? "on \(month) if that is \(week)" : "on \(month) or on \(week)"
        case (let month?, nil): return "on \(month)"
        case (nil, let week?): return "on \(week)"
        }
    }

    private var monthWords: String? {
        schedule.months.values.count == 12 ? nil : "in \(Self.runs(schedule.months.values, from: 1, Self.monthNames))"
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let monthNames = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ]

    /// The interval between evenly spaced minutes, across hours as well; nil if they are not evenly spaced.
    private static func step(_ minutes: [Int]) -> Int? {
        guard minutes.count > 1, minutes.first == 0, 60 % minutes.count == 0 else { return nil }
        let step = 60 / minutes.count
        return minutes == Array(stride(from: 0, to: 60, by: step)) ? step : nil
    }

    /// A list with ranges: `1, 3 and 8 to 12`.
    private static func runs(_ values: [Int], from first: Int = 0, _ names: [String] = []) -> String {
        func name(_ value: Int) -> String { names.isEmpty ? String(value) : names[value - first] }
        var runs: [ClosedRange<Int>] = []
        for value in values {
            if let last = runs.last, last.upperBound == value - 1 {
                runs[runs.count - 1] = last.lowerBound...value
            } else {
                runs.append(value...value)
            }
        }
        return list(
            runs.flatMap { run in
                run.count < 3 ? run.map(name) : ["\(name(run.lowerBound)) to \(name(run.upperBound))"]
            })
    }

    private static func list(_ parts: [String]) -> String {
        guard parts.count > 1, let last = parts.last else { return parts.first ?? "" }
        return "\(parts.dropLast().joined(separator: ", ")) and \(last)"
    }
}

extension UInt64 {
    fileprivate var values: [Int] { (0..<64).filter(has) }
}
