import Support
import Testing

@testable import PushModel

@Suite struct TimeZoneRulesTests {
    @Test(
        arguments: [
            ("Europe/Lisbon", "2026-01-15T12:00:00Z", "2026-01-15T12:00:00", "WET", false),
            ("Europe/Lisbon", "2026-03-29T00:59:59.999Z", "2026-03-29T00:59:59", "WET", false),
            ("Europe/Lisbon", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00", "WEST", true),
            ("Europe/Lisbon", "1995-01-15T12:00:00Z", "1995-01-15T13:00:00", "CET", false),
            ("Europe/Lisbon", "1850-01-01T00:00:00Z", "1849-12-31T23:23:15", "LMT", false),
            ("America/New_York", "2026-11-01T05:59:59Z", "2026-11-01T01:59:59", "EDT", true),
            ("America/New_York", "2026-11-01T06:00:00Z", "2026-11-01T01:00:00", "EST", false),
            ("America/New_York", "2150-07-04T12:00:00Z", "2150-07-04T08:00:00", "EDT", true),
            ("Australia/Lord_Howe", "2026-04-04T14:59:59Z", "2026-04-05T01:59:59", "+11", true),
            ("Australia/Lord_Howe", "2026-04-04T15:00:00Z", "2026-04-05T01:30:00", "+1030", false),
            ("Asia/Kolkata", "2026-04-04T15:00:00Z", "2026-04-04T20:30:00", "IST", false),
            ("Africa/Casablanca", "2025-03-10T12:00:00Z", "2025-03-10T12:00:00", "+00", nil),
            ("Africa/Casablanca", "2025-05-10T12:00:00Z", "2025-05-10T13:00:00", "+01", nil),
            ("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T23:59:59", "-10", true),
            ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T00:00:00", "+14", true),
            ("Pacific/Apia", "2300-01-01T00:00:00Z", "2300-01-01T13:00:00", "+13", false),
        ] as [(String, String, String, String, Bool?)])
    func `Local times agree with known past and future times`(
        zone: String, text: String, shown: String, abbreviation: String, isDaylight: Bool?
    ) throws {
        let rules = try SystemZone.rules(zone)
        let instant = try date(text)
        #expect(rules.localTime(at: instant).description == shown)
        let offset = rules.offset(at: instant)
        #expect(offset.abbreviation == abbreviation)
        // Some builds of the database treat winter as daylight time in Morocco, others summer.
        if let isDaylight { #expect(offset.isDaylight == isDaylight) }
    }

    @Test(
        arguments: [
            ("Europe/Lisbon", "2026-03-29T00:59:59", ["2026-03-29T00:59:59Z"]),
            ("Europe/Lisbon", "2026-03-29T02:00", ["2026-03-29T01:00:00Z"]),
            ("Europe/Lisbon", "2026-10-25T00:59:59", ["2026-10-24T23:59:59Z"]),
            ("Europe/Lisbon", "2026-10-25T01:00", ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"]),
            ("Europe/Lisbon", "2026-10-25T01:59:59", ["2026-10-25T00:59:59Z", "2026-10-25T01:59:59Z"]),
            ("Europe/Lisbon", "2026-10-25T02:00", ["2026-10-25T02:00:00Z"]),
            ("America/New_York", "2200-11-02T01:30", ["2200-11-02T05:30:00Z", "2200-11-02T06:30:00Z"]),
            ("Australia/Lord_Howe", "2026-04-05T01:29:59", ["2026-04-04T14:29:59Z"]),
            ("Australia/Lord_Howe", "2026-04-05T01:30", ["2026-04-04T14:30:00Z", "2026-04-04T15:00:00Z"]),
            ("Asia/Kolkata", "2026-04-05T01:30", ["2026-04-04T20:00:00Z"]),
        ])
    func `A local time is one point in time, or two where clocks go back`(zone: String, text: String, timestamps: [String]) throws {
        let expected = try timestamps.map(date)
        let found = try SystemZone.rules(zone).timestamps(of: local(text))
        #expect(found == (expected.count == 1 ? .one(expected[0]) : .two(expected[0], expected[1])))
    }

    @Test(
        arguments: [
            ("Europe/Lisbon", "2026-03-29T01:00", "2026-03-29T01:00:00Z"),
            ("Europe/Lisbon", "2026-03-29T01:59:59", "2026-03-29T01:00:00Z"),
            ("America/New_York", "2200-03-09T02:30", "2200-03-09T07:00:00Z"),
            ("Australia/Lord_Howe", "2026-10-04T02:29:59", "2026-10-03T15:30:00Z"),
            ("Pacific/Apia", "2011-12-30T00:00", "2011-12-30T10:00:00Z"),
            ("Pacific/Apia", "2011-12-30T23:59:59", "2011-12-30T10:00:00Z"),
        ])
    func `A skipped local time has no point in time, and its gap has an end`(zone: String, text: String, end: String) throws {
        #expect(try SystemZone.rules(zone).timestamps(of: local(text)) == .gap(date(end)))
    }

    @Test(arguments: SystemZone.names) func `Every point in time is found again from its local time`(zone: String) throws {
        let rules = try SystemZone.rules(zone)
        var random = SplitMix64(seed: 11)
        for _ in 0..<3000 {
            let instant = Timestamp(seconds: Int64.random(in: -4_000_000_000..<9_000_000_000, using: &random))
            switch rules.timestamps(of: rules.localTime(at: instant)) {
            case .one(let only): #expect(only == instant)
            case .two(let first, let second): #expect(first < second && (first == instant || second == instant))
            case .gap: Issue.record("\(instant) shows a time that is left out")
            }
        }
    }

    /// The time zone compiler has listed the changes until 2037. The rule alone must give the same ones.
    @Test(
        arguments: [
            ("America/New_York", "EST5EDT,M3.2.0,M11.1.0"), ("Europe/Lisbon", "WET0WEST,M3.5.0/1,M10.5.0"),
            ("Australia/Lord_Howe", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"),
        ])
    func `A rule gives the same changes as the file`(zone: String, posix: String) throws {
        let listed = try SystemZone.rules(zone)
        let ruled = try ZoneBytes.rules(posix)
        var span = listed.span(at: try date("2009-07-01T00:00:00Z").seconds)
        var count = 0
        while span.end < (try date("2060-01-01T00:00:00Z").seconds) {
            let next = listed.span(at: span.end)
            #expect(ruled.span(at: span.end - 1).offset == span.offset)
            #expect(ruled.span(at: span.end).offset == next.offset)
            // Some files list a change to the current offset where 32-bit times end.
            if next.offset != span.offset { count += 1 }
            span = next
        }
        #expect(count == 101)
    }

    @Test(
        arguments: [
            // Daylight time in the south, across the new year.
            ("AAA-10BBB,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", "BBB", 11),
            ("AAA-10BBB,M10.1.0,M4.1.0/3", "2026-06-01T00:00:00Z", "AAA", 10),
            // Numbered days: 60 of a leap year is 29 February, J60 is 1 March.
            ("AAA0BBB,60,J300", "2028-02-29T23:59:59Z", "AAA", 0),
            ("AAA0BBB,59,J300", "2028-02-29T02:00:00Z", "BBB", 1),
            ("AAA0BBB,J60,J300", "2028-03-01T01:59:59Z", "AAA", 0),
            ("AAA0BBB,J60,J300", "2028-03-01T02:00:00Z", "BBB", 1),
            ("AAA0BBB,J60,J300", "2027-03-01T02:00:00Z", "BBB", 1),
            ("AAA0BBB,J59,J300", "2028-02-28T02:00:00Z", "BBB", 1),
            // Times outside of the day: on the Friday before and on the Sunday after.
            ("AAA3BBB,M3.4.4/50,M10.4.4/50", "2026-03-28T04:59:59Z", "AAA", -3),
            ("AAA3BBB,M3.4.4/50,M10.4.4/50", "2026-03-28T05:00:00Z", "BBB", -2),
            ("AAA2BBB,M3.5.0/-2,M10.5.0/-1", "2026-03-28T23:59:59Z", "AAA", -2),
            ("AAA2BBB,M3.5.0/-2,M10.5.0/-1", "2026-03-29T00:00:00Z", "BBB", -1),
            // Daylight time all year, in both spellings of RFC 9636.
            ("EST5EDT,0/0,J365/25", "2026-01-01T05:00:00Z", "EDT", -4),
            ("EST5EDT,0/0,J365/25", "2028-12-31T23:59:59Z", "EDT", -4),
            ("EST5EDT4,0/0,J365/25", "2029-01-01T04:30:00Z", "EDT", -4),
            ("XXX3EDT4,0/0,J365/23", "2028-01-01T03:30:00Z", "EDT", -4),
            ("XXX3EDT4,0/0,J365/23", "2026-07-01T00:00:00Z", "EDT", -4),
            // Winter is the daylight time.
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-01T00:00:00Z", "GMT", 0),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-03-29T01:00:00Z", "IST", 1),
            ("<-03>3", "2026-01-01T00:00:00Z", "-03", -3),
        ])
    func `Rules are read as POSIX and RFC 9636 define them`(posix: String, text: String, abbreviation: String, hours: Int) throws {
        let offset = try ZoneBytes.rules(posix).offset(at: date(text))
        #expect(offset.abbreviation == abbreviation && offset.seconds == hours * 3600)
    }

    @Test func `The earliest and latest times do not overflow`() throws {
        for rules in try [.utc, SystemZone.rules("Europe/Lisbon"), SystemZone.rules("Pacific/Apia"), ZoneBytes.rules("<+2559>-24:59:59")] {
            for milliseconds in [Int64.min, .min + 1, .max - 1, .max] {
                let instant = Timestamp(milliseconds: milliseconds)
                #expect(!rules.localTime(at: instant).description.isEmpty)
                #expect(DailyWindowTests.night.contains(instant, in: rules) == (DailyWindowTests.night.end(of: instant, in: rules) != nil))
            }
            for seconds in [Int64.min, .max] {
                guard case .one = rules.timestamps(of: LocalTime(seconds: seconds)) else {
                    Issue.record("\(seconds) in \(rules.name)")
                    continue
                }
            }
        }
    }

    @Test func `A local time returns the parts it was made from`() {
        let time = LocalTime(CivilDate(year: 1969, month: 12, day: 31), hour: 23, minute: 4, second: 5)
        #expect(time.seconds == -3355 && time.date == CivilDate(year: 1969, month: 12, day: 31))
        #expect(time.hour == 23 && time.minute == 4 && time.second == 5 && time.description == "1969-12-31T23:04:05")
        #expect(time < LocalTime(CivilDate(year: 1970, month: 1, day: 1)))
    }
}
