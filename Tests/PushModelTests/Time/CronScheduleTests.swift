import Support
import Testing

@testable import PushModel

@Suite struct CronScheduleTests {
    /// 08:30 on working days.
    static let morning = fixed("30 8 * * MON-FRI")

    private static func fixed(_ text: String) -> CronSchedule {
        guard let schedule = try? CronSchedule(text) else { preconditionFailure("\(text) is a schedule") }
        return schedule
    }

    private func firings(_ text: String, after start: String, _ count: Int = 3) throws -> [String] {
        let schedule = try CronSchedule(text)
        var times: [Timestamp] = [try date(start)]
        for _ in 0..<count {
            guard let last = times.last, let next = schedule.next(after: last, in: .utc) else { break }
            times.append(next)
        }
        return times.dropFirst().map { String($0.iso8601(fraction: false).dropLast(4)) }
    }

    @Test(
        arguments: [
            ("* * * * *", ["2026-01-31T22:58", "2026-01-31T22:59", "2026-01-31T23:00"]),
            ("*/15 * * * *", ["2026-01-31T23:00", "2026-01-31T23:15", "2026-01-31T23:30"]),
            ("7-59/25 * * * *", ["2026-01-31T23:07", "2026-01-31T23:32", "2026-01-31T23:57"]),
            ("58,57 * * * *", ["2026-01-31T22:58", "2026-01-31T23:57", "2026-01-31T23:58"]),
            ("55-5/5 * * * *", ["2026-01-31T23:00", "2026-01-31T23:05", "2026-01-31T23:55"]),
            ("57 22 * * *", ["2026-02-01T22:57", "2026-02-02T22:57", "2026-02-03T22:57"]),
            ("0 22-1 * * *", ["2026-01-31T23:00", "2026-02-01T00:00", "2026-02-01T01:00"]),
            ("0 22-6/4 * * *", ["2026-02-01T02:00", "2026-02-01T06:00", "2026-02-01T22:00"]),
            ("30 9 * * MON-FRI", ["2026-02-02T09:30", "2026-02-03T09:30", "2026-02-04T09:30"]),
            ("30 9 * * fri-Mon", ["2026-02-01T09:30", "2026-02-02T09:30", "2026-02-06T09:30"]),
            ("0 0 * * 7", ["2026-02-01T00:00", "2026-02-08T00:00", "2026-02-15T00:00"]),
            ("0 0 * * 0", ["2026-02-01T00:00", "2026-02-08T00:00", "2026-02-15T00:00"]),
            ("0 0 * * 5-7/2", ["2026-02-01T00:00", "2026-02-06T00:00", "2026-02-08T00:00"]),
            ("0 0 * * 7-1", ["2026-02-01T00:00", "2026-02-02T00:00", "2026-02-08T00:00"]),
            ("0 0 31 * *", ["2026-03-31T00:00", "2026-05-31T00:00", "2026-07-31T00:00"]),
            ("0 0 30-1 * *", ["2026-02-01T00:00", "2026-03-01T00:00", "2026-03-30T00:00"]),
            ("0 0 1 JAN,jul *", ["2026-07-01T00:00", "2027-01-01T00:00", "2027-07-01T00:00"]),
            ("0 0 1 NOV-FEB/2 *", ["2026-11-01T00:00", "2027-01-01T00:00", "2027-11-01T00:00"]),
            ("0 0 29 2 *", ["2028-02-29T00:00", "2032-02-29T00:00", "2036-02-29T00:00"]),
            // If both days are given, either one is enough.
            ("0 12 13 * FRI", ["2026-02-06T12:00", "2026-02-13T12:00", "2026-02-20T12:00"]),
            ("0 0 30 2 1", ["2026-02-02T00:00", "2026-02-09T00:00", "2026-02-16T00:00"]),
            ("0 0 1-31 * FRI", ["2026-02-01T00:00", "2026-02-02T00:00", "2026-02-03T00:00"]),
            // A day field that starts with a star counts as not given: both must match.
            ("0 0 */10 * FRI", ["2026-05-01T00:00", "2026-07-31T00:00", "2026-08-21T00:00"]),
            ("0 0 13 * */5", ["2026-02-13T00:00", "2026-03-13T00:00", "2026-09-13T00:00"]),
            ("@hourly", ["2026-01-31T23:00", "2026-02-01T00:00", "2026-02-01T01:00"]),
            ("@daily", ["2026-02-01T00:00", "2026-02-02T00:00", "2026-02-03T00:00"]),
            ("@Weekly", ["2026-02-01T00:00", "2026-02-08T00:00", "2026-02-15T00:00"]),
            ("@monthly", ["2026-02-01T00:00", "2026-03-01T00:00", "2026-04-01T00:00"]),
            ("@yearly", ["2027-01-01T00:00", "2028-01-01T00:00", "2029-01-01T00:00"]),
            (" \t0  0 1\t1 *  ", ["2027-01-01T00:00", "2028-01-01T00:00", "2029-01-01T00:00"]),
        ])
    func `A schedule fires at its times`(text: String, times: [String]) throws {
        #expect(try firings(text, after: "2026-01-31T22:57:00Z") == times)
    }

    @Test func `The next time is later than the given time, if only by a millisecond`() throws {
        let schedule = try CronSchedule("30 9 * * *")
        let due = try date("2026-01-05T09:30:00Z")
        #expect(schedule.next(after: due + .milliseconds(-1), in: .utc) == due)
        #expect(schedule.next(after: due, in: .utc) == due + .seconds(86_400))
        #expect(schedule.next(after: due + .milliseconds(1), in: .utc) == due + .seconds(86_400))
    }

    @Test func `Rare days are found across years without leap days, also before 1970`() throws {
        #expect(try firings("0 0 29 2 *", after: "2096-03-01T00:00:00Z", 1) == ["2104-02-29T00:00"])
        // 29 February on a Sunday, with 2100 in between.
        #expect(try firings("0 0 29 2 */7", after: "2088-03-01T00:00:00Z", 1) == ["2128-02-29T00:00"])
        #expect(try firings("59 23 31 12 *", after: "1900-01-01T00:00:00Z", 1) == ["1900-12-31T23:59"])
    }

    @Test func `Schedules end with the year 9999`() throws {
        let schedule = try CronSchedule("0 0 1 1 *")
        let last = try date("9999-01-01T00:00:00Z")
        #expect(schedule.next(after: last + .milliseconds(-1), in: .utc) == last)
        for late in [last, .distantFuture, Timestamp(milliseconds: .max)] { #expect(schedule.next(after: late, in: .utc) == nil) }
        #expect(schedule.next(after: Timestamp(milliseconds: .min), in: .utc) != nil)
    }

    @Test(
        arguments: [
            ("60 * * * *", "minute", "60", "0 to 59"),
            ("* 24 * * *", "hour", "24", "0 to 23"),
            ("* * 0 * *", "day of the month", "0", "1 to 31"),
            ("* * 1-32 * *", "day of the month", "32", "1 to 31"),
            ("* * * 13 *", "month", "13", "1 to 12 or JAN to DEC"),
            ("* * * MON *", "month", "MON", "1 to 12 or JAN to DEC"),
            ("* * * * 8", "day of the week", "8", "0 to 7 or SUN to SAT"),
            ("* * * * MONDAY", "day of the week", "MONDAY", "0 to 7 or SUN to SAT"),
            ("-5 * * * *", "minute", "", "0 to 59"),
            ("5- * * * *", "minute", "", "0 to 59"),
            ("1-2-3 * * * *", "minute", "2-3", "0 to 59"),
            (", * * * *", "minute", "", "0 to 59"),
            ("1, * * * *", "minute", "", "0 to 59"),
            ("+5 * * * *", "minute", "+5", "0 to 59"),
            ("٣ * * * *", "minute", "٣", "0 to 59"),
            ("99999999999999999999 * * * *", "minute", "99999999999999999999", "0 to 59"),
            ("** * * * *", "minute", "**", "0 to 59"),
            ("*-5 * * * *", "minute", "*", "0 to 59"),
            ("? * * * *", "minute", "?", "0 to 59"),
            ("*/0 * * * *", "minute", "0", "0 to 59"),
            ("*/60 * * * *", "minute", "60", "0 to 59"),
            ("*/ * * * *", "minute", "", "0 to 59"),
            ("*/1/2 * * * *", "minute", "1/2", "0 to 59"),
            ("* */24 * * *", "hour", "24", "0 to 23"),
            ("* 9/2 * * *", "hour", "9/2", "0 to 23"),
            ("* * L * *", "day of the month", "L", "1 to 31"),
        ])
    func `An invalid field is reported with its value and the allowed values`(text: String, field: String, value: String, allowed: String) {
        let error = #expect(throws: PushError.self) { try CronSchedule(text) }
        #expect(error?.code == "cron.invalid" && error?.status == 400)
        #expect(error?.message == "invalid cron expression \"\(text)\": \(field) \"\(value)\" is not allowed")
        #expect(
            error?.details == [
                "schedule": .string(text), "field": .string(field), "value": .string(value), "allowed": .string(allowed),
            ])
    }

    @Test(
        arguments: [
            ("* 24 * * *", "use 0 to 23"), ("* */24 * * *", "use a step of 1 to 23"),
            ("* 9/2 * * *", "a step needs a range: write 9-23/2"), ("* * * * 1/2", "a step needs a range: write 1-6/2"),
            ("* * * *", "write minute, hour, day of the month, month and day of the week, such as \"30 9 * * MON-FRI\""),
            ("@dayly", "did you mean @daily?"), ("@reboot", "use @hourly, @daily, @weekly, @monthly or @yearly"),
        ])
    func `A rejected schedule gets a hint with what to write`(text: String, hint: String) {
        #expect(#expect(throws: PushError.self) { try CronSchedule(text) }?.hint == hint)
    }

    @Test(arguments: [("", "0 fields"), ("*", "1 field"), ("* * * *", "4 fields"), ("0 * * * * *", "6 fields"), ("@daily *", "2 fields")])
    func `A schedule has five fields`(text: String, count: String) {
        let error = #expect(throws: PushError.self) { try CronSchedule(text) }
        #expect(error?.message == "invalid cron expression \"\(text)\": it has \(count), not five")
    }

    @Test(arguments: ["0 0 30 2 *", "0 0 31 2 *", "0 0 31 4,6,9,NOV *", "0 0 30,31 FEB */2", "* * 30-31 2 *"])
    func `A schedule that can never fire is rejected`(text: String) {
        let error = #expect(throws: PushError.self) { try CronSchedule(text) }
        #expect(error?.message == "invalid cron expression \"\(text)\": it never fires: none of its months has such a day")
    }

    @Test func `A schedule is limited to 500 characters`() throws {
        let fits = "0" + String(repeating: ",0", count: 246) + " * * * *"
        #expect(fits.utf8.count == 501)
        let error = #expect(throws: PushError.self) { try CronSchedule(fits) }
        #expect(error?.message == "the schedule is longer than 500 characters")
        #expect(try CronSchedule(String(fits.dropFirst(2))).minutes == 1)
    }

    /// Compares days and months with a walk from day to day.
    @Test func `Over several years a schedule fires on exactly the matching days`() throws {
        var random = SplitMix64(seed: 21)
        let start = try date("2023-12-31T00:00:00Z")
        for _ in 0..<60 {
            let maker = ScheduleMaker(dayOf: &random)
            let schedule = try CronSchedule(maker.text)
            var last = start
            for day in 1...1500 {
                let midnight = start + .seconds(day * 86_400)
                guard maker.fires(on: CivilDate(daysSince1970: midnight.seconds / 86_400)) else { continue }
                let next = schedule.next(after: last, in: .utc)
                guard next == midnight else {
                    Issue.record("\(maker.text) after \(last) is \(next?.description ?? "never"), not \(midnight)")
                    break
                }
                last = midnight
            }
        }
    }

    @Test(
        arguments: [
            ("* * * * *", "every minute"),
            ("*/15 * * * *", "every 15 minutes"),
            ("*/25 * * * *", "at minutes 0, 25 and 50 of every hour"),
            ("*/30 9-17 * * 1-5", "every 30 minutes of the hours 9 to 17 on Monday to Friday"),
            ("0 * * * *", "every hour"),
            ("5 * * * *", "at minute 5 of every hour"),
            ("* 9 * * *", "every minute of hour 9 every day"),
            ("0 */3 * * *", "at minute 0 of the hours 0, 3, 6, 9, 12, 15, 18 and 21 every day"),
            ("30 9 * * MON-FRI", "at 09:30 on Monday to Friday"),
            ("0,30 9,17 * * SUN,WED", "at 09:00, 09:30, 17:00 and 17:30 on Sunday and Wednesday"),
            ("@daily", "at 00:00 every day"),
            ("0 9 1-31 * FRI", "at 09:00 every day"),
            ("0 9 1,15 * *", "at 09:00 on days 1 and 15 of the month"),
            ("0 9 13 * FRI", "at 09:00 on day 13 of the month or on Friday"),
            ("0 9 1 */6 SUN-SAT", "at 09:00 every day in January and July"),
            ("0 9 */10 JUN-AUG FRI", "at 09:00 on days 1, 11, 21 and 31 of the month if that is Friday in June to August"),
            ("0 0 1 1 *", "at 00:00 on day 1 of the month in January"),
        ])
    func `A schedule can be described in words`(text: String, words: String) throws {
        #expect(try CronDescription(CronSchedule(text)).text == words)
    }
}
