import Support
import Testing

@testable import PushModel

/// What schedules do when daylight saving time starts or ends.
@Suite struct ClockChangeTests {
    private func firings(_ text: String, in rules: TimeZoneRules, from start: String, to end: String) throws -> [String] {
        let schedule = try CronSchedule(text)
        let end = try date(end)
        var found: [Timestamp] = []
        // Starts one second earlier, so that a firing at the start counts.
        var last = try date(start) + .seconds(-1)
        while let next = schedule.next(after: last, in: rules), next <= end {
            try #require(next > last)
            found.append(next)
            last = next
        }
        return found.map { String($0.iso8601(fraction: false).dropFirst(8).dropLast(4)) }
    }

    // In Lisbon clocks show 01:00 at 01:00Z in winter and 02:00 at 01:00Z in summer.
    @Test(
        arguments: [
            // 01:30 is skipped: it fires when clocks show 02:00.
            ("30 1 * * *", ["28T01:30", "29T01:00", "30T00:30"]),
            // Three skipped times fire once, together with the regular firing at that time.
            ("0,20,40 1 * * *", ["28T01:00", "28T01:20", "28T01:40", "29T01:00", "30T00:00", "30T00:20", "30T00:40"]),
            ("0 1,2 * * *", ["28T01:00", "28T02:00", "29T01:00", "30T00:00", "30T01:00"]),
            ("59 0 * * *", ["28T00:59", "29T00:59", "29T23:59"]),
            ("0 2 * * *", ["28T02:00", "29T01:00", "30T01:00"]),
            // Fires every hour of elapsed time, so no time is skipped.
            ("30 */12 * * *", ["28T00:30", "28T12:30", "29T00:30", "29T11:30", "29T23:30"]),
            ("30 */1 28,29 * *", (0..<24).map { "28T\($0.padded(2)):30" } + (0..<23).map { "29T\($0.padded(2)):30" }),
            // With a fixed hour the skipped times fire, although the minutes are a wildcard.
            ("*/30 1 * * *", ["28T01:00", "28T01:30", "29T01:00", "30T00:00", "30T00:30"]),
        ])
    func `Skipped local times fire once when clocks go forward`(text: String, times: [String]) throws {
        let lisbon = try SystemZone.rules("Europe/Lisbon")
        #expect(try firings(text, in: lisbon, from: "2026-03-28T00:00:00Z", to: "2026-03-30T01:59:00Z") == times)
    }

    @Test(
        arguments: [
            // 01:00 to 01:59 occurs at 00:00Z and again at 01:00Z.
            ("30 1 * * *", ["25T00:30", "26T01:30"]),
            ("0 1 * * *", ["25T00:00", "26T01:00"]),
            ("0 0,1,2 * * *", ["25T00:00", "25T02:00", "26T00:00", "26T01:00"]),
            ("30 * 25 * *", (0..<24).map { "25T\($0.padded(2)):30" }),
            ("30 */1 25 * *", (0..<24).map { "25T\($0.padded(2)):30" }),
            ("*/30 1 * * *", ["25T00:00", "25T00:30", "25T01:00", "25T01:30", "26T01:00", "26T01:30"]),
        ])
    func `Repeated local times fire once, or every time if the hour is a wildcard`(text: String, times: [String]) throws {
        let lisbon = try SystemZone.rules("Europe/Lisbon")
        #expect(try firings(text, in: lisbon, from: "2026-10-25T00:00:00Z", to: "2026-10-26T01:59:00Z") == times)
    }

    @Test func `A skipped day fires at its end`() throws {
        let apia = try SystemZone.rules("Pacific/Apia")
        let (start, end) = ("2011-12-28T12:00:00Z", "2012-01-01T09:59:00Z")
        // 09:00 there is 19:00Z before the change, and 19:00Z of the previous day after it.
        #expect(try firings("0 9 * * *", in: apia, from: start, to: end) == ["28T19:00", "29T19:00", "30T10:00", "30T19:00", "31T19:00"])
        #expect(try firings("0 9 30 12 *", in: apia, from: start, to: end) == ["30T10:00"])
        #expect(try firings("0 */12 30 12 *", in: apia, from: start, to: end).isEmpty)
    }

    @Test func `A repeated half hour repeats nothing else`() throws {
        let island = try SystemZone.rules("Australia/Lord_Howe")
        let (start, end) = ("2026-04-04T13:30:00Z", "2026-04-04T16:00:00Z")
        #expect(try firings("15,45 1 * * *", in: island, from: start, to: end) == ["04T14:15", "04T14:45"])
        #expect(
            try firings("15,45 * * * *", in: island, from: start, to: end) == ["04T13:45", "04T14:15", "04T14:45", "04T15:15", "04T15:45"])
    }

    /// Made by hand: clocks go forward by 90 seconds, and back by a day.
    @Test func `Clock changes by unusual amounts follow the same rules`() throws {
        var zone = ZoneBytes()
        zone.changes = [(86_400 + 3600, 1), (4 * 86_400, 2)]
        zone.offsets = [(0, 0, 0), (90, 0, 0), (90 - 86_400, 0, 0)]
        let rules = try zone.rules()
        let (start, end) = ("1970-01-02T00:00:00Z", "1970-01-06T03:00:00Z")
        #expect(
            try firings("0,1,2 1 * * *", in: rules, from: start, to: end) == [
                "02T01:00", "02T01:00", "03T00:58", "03T00:59", "03T01:00", "04T00:58", "04T00:59", "04T01:00", "06T00:58", "06T00:59",
                "06T01:00",
            ])
    }

    private static let windows = [
        ("Europe/Lisbon", "2026-03-28T12:00:00Z"), ("Europe/Lisbon", "2026-10-24T12:00:00Z"),
        ("Europe/Lisbon", "1992-09-26T12:00:00Z"), ("Europe/Lisbon", "1996-03-30T12:00:00Z"),
        ("Europe/Lisbon", "2051-03-25T12:00:00Z"), ("America/New_York", "2026-03-07T12:00:00Z"),
        ("America/New_York", "2026-10-31T12:00:00Z"), ("Australia/Lord_Howe", "2026-04-04T00:00:00Z"),
        ("Australia/Lord_Howe", "2026-10-03T00:00:00Z"), ("Asia/Kolkata", "2026-06-15T00:00:00Z"),
        ("Africa/Casablanca", "2025-02-22T12:00:00Z"), ("Africa/Casablanca", "2025-04-05T12:00:00Z"),
        ("Pacific/Apia", "2011-12-29T12:00:00Z"), ("Pacific/Apia", "2010-09-25T12:00:00Z"), ("Pacific/Apia", "2012-03-31T00:00:00Z"),
    ]

    /// Walks from minute to minute, reads the local time, and remembers every local time shown.
    private struct Walk {
        private var minutes: [(instant: Timestamp, time: LocalTime, isNew: Bool, leftOut: [LocalTime])] = []

        /// - Parameter start: The walk begins two days earlier, to know the local times shown before.
        init(in rules: TimeZoneRules, from start: Timestamp, days: Int) {
            var shown: Set<LocalTime> = []
            var last: LocalTime?
            for minute in (-2 * 1440)..<(days * 1440) {
                let instant = start + .seconds(minute * 60)
                let time = rules.localTime(at: instant)
                let leftOut = last.map { stride(from: $0.seconds + 60, to: time.seconds, by: 60).map(LocalTime.init(seconds:)) } ?? []
                let new = leftOut.filter { !shown.contains($0) }
                if minute > 0 { minutes.append((instant, time, !shown.contains(time), new)) }
                shown.formUnion(new + [time])
                last = time
            }
        }

        func firings(of schedule: ScheduleMaker) -> [Timestamp] {
            minutes.filter { minute in
                let isShown = schedule.fires(at: minute.time)
                if schedule.hour.isStar { return isShown }
                return isShown && (minute.isNew || schedule.minute.isStar) || minute.leftOut.contains(where: schedule.fires(at:))
            }.map(\.instant)
        }
    }

    @Test(arguments: windows) func `A schedule fires exactly when a walk from minute to minute says so`(zone: String, text: String) throws {
        let rules = try SystemZone.rules(zone)
        let start = try date(text)
        let walk = Walk(in: rules, from: start, days: 2)
        var random = SplitMix64(seed: UInt64(start.seconds.magnitude))
        var count = 0
        for _ in 0..<60 {
            let maker = ScheduleMaker(timeOf: &random)
            let schedule = try CronSchedule(maker.text)
            let expected = walk.firings(of: maker)
            var found: [Timestamp] = []
            var last = start
            while let next = schedule.next(after: last, in: rules), next < start + .seconds(2 * 86_400) {
                try #require(next > last)
                found.append(next)
                last = next
            }
            #expect(found == expected, "\(maker.text)")
            count += found.count
            // Also from other times, not only from one firing to the next.
            for _ in 0..<10 {
                let instant = start + .milliseconds(Int.random(in: 0..<2 * 86_400_000, using: &random))
                guard let next = expected.first(where: { $0 > instant }) else { continue }
                #expect(schedule.next(after: instant, in: rules) == next, "\(maker.text) after \(instant)")
            }
        }
        #expect(count > 1000)
    }
}
