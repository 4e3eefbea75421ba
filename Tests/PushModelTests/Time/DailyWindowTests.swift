import Support
import Testing

@testable import PushModel

@Suite struct DailyWindowTests {
    static let night = fixed("22:00", "07:00")

    private static func fixed(_ start: String, _ end: String) -> DailyWindow {
        guard let window = try? DailyWindow(from: start, to: end) else { preconditionFailure("\(start) to \(end) is a window") }
        return window
    }

    @Test(
        arguments: [
            ("22:00", "07:00", "2026-01-05T21:59:59.999Z", nil),
            ("22:00", "07:00", "2026-01-05T22:00:00Z", "2026-01-06T07:00:00Z"),
            ("22:00", "07:00", "2026-01-06T00:00:00Z", "2026-01-06T07:00:00Z"),
            ("22:00", "07:00", "2026-01-06T06:59:59.999Z", "2026-01-06T07:00:00Z"),
            ("22:00", "07:00", "2026-01-06T07:00:00Z", nil),
            ("12:30", "14:00", "2026-01-06T12:29:59Z", nil),
            ("12:30", "14:00", "2026-01-06T12:30:00Z", "2026-01-06T14:00:00Z"),
            ("12:30", "14:00", "2026-01-06T14:00:00Z", nil),
            ("20:00", "24:00", "2026-01-06T23:59:59Z", "2026-01-07T00:00:00Z"),
            ("20:00", "24:00", "2026-01-06T00:00:00Z", nil),
            ("00:00", "06:00", "2026-01-06T00:00:00Z", "2026-01-06T06:00:00Z"),
            ("00:00", "06:00", "2026-01-05T23:59:59Z", nil),
            ("00:01", "00:00", "2026-01-06T00:00:30Z", nil),
            ("00:01", "00:00", "2026-01-06T00:01:00Z", "2026-01-07T00:00:00Z"),
        ])
    func `A window includes its start and excludes its end`(start: String, end: String, text: String, over: String?) throws {
        try check(.utc, start, end, text, over)
    }

    // Lisbon skips 01:00 to 01:59 at 01:00Z on 29 March, and repeats it at 00:00Z and 01:00Z on 25 October.
    @Test(
        arguments: [
            // The night is one hour shorter, then one hour longer.
            ("22:00", "07:00", "2026-03-28T22:00:00Z", "2026-03-29T06:00:00Z"),
            ("22:00", "07:00", "2026-10-24T21:00:00Z", "2026-10-25T07:00:00Z"),
            // A skipped end or start moves to the end of the gap.
            ("22:00", "01:30", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z"),
            ("22:00", "01:30", "2026-03-29T01:00:00Z", nil),
            ("01:30", "07:00", "2026-03-29T00:59:59Z", nil),
            ("01:30", "07:00", "2026-03-29T01:00:00Z", "2026-03-29T06:00:00Z"),
            // A window that is skipped as a whole does not occur.
            ("01:10", "01:50", "2026-03-29T01:00:00Z", nil),
            ("01:10", "01:50", "2026-03-29T00:59:59Z", nil),
            ("01:00", "02:00", "2026-03-29T01:00:00Z", nil),
            // If it occurs twice, a start is the first one and an end the second one, with no gap between.
            ("22:00", "01:30", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
            ("22:00", "01:30", "2026-10-25T01:29:59Z", "2026-10-25T01:30:00Z"),
            ("22:00", "01:30", "2026-10-25T01:30:00Z", nil),
            ("01:30", "07:00", "2026-10-25T00:29:59Z", nil),
            ("01:30", "07:00", "2026-10-25T00:30:00Z", "2026-10-25T07:00:00Z"),
            ("01:30", "07:00", "2026-10-25T01:10:00Z", "2026-10-25T07:00:00Z"),
            ("01:10", "01:40", "2026-10-25T00:50:00Z", "2026-10-25T01:40:00Z"),
            // All but half an hour of the day. That half hour repeats inside the window, which does not pause.
            ("01:40", "01:10", "2026-10-24T12:00:00Z", "2026-10-26T01:10:00Z"),
            ("01:40", "01:10", "2026-10-25T00:39:59Z", "2026-10-26T01:10:00Z"),
        ])
    func `Clock changes do not interrupt a window`(start: String, end: String, text: String, over: String?) throws {
        try check(SystemZone.rules("Europe/Lisbon"), start, end, text, over)
    }

    @Test(
        arguments: [
            // 30 December 2011 is skipped: the nights before and after it are one.
            ("22:00", "07:00", "2011-12-30T08:00:00Z", "2011-12-30T17:00:00Z"),
            ("22:00", "07:00", "2011-12-30T10:00:00Z", "2011-12-30T17:00:00Z"),
            ("22:00", "07:00", "2011-12-30T17:00:00Z", nil),
            ("12:00", "13:00", "2011-12-30T10:00:00Z", nil),
        ])
    func `A skipped day ends one window and starts another`(start: String, end: String, text: String, over: String?) throws {
        try check(SystemZone.rules("Pacific/Apia"), start, end, text, over)
    }

    private func check(_ rules: TimeZoneRules, _ start: String, _ end: String, _ text: String, _ over: String?) throws {
        let window = try DailyWindow(from: start, to: end)
        #expect(try window.end(of: date(text), in: rules) == over.map(date))
        #expect(try window.contains(date(text), in: rules) == (over != nil))
        #expect(window.description == "\(start)-\(end == "24:00" ? "00:00" : end)")
    }

    /// Away from clock changes the local time decides. At its end a window is over.
    @Test(arguments: SystemZone.names) func `A window agrees with the local time, and is over at its end`(zone: String) throws {
        let rules = try SystemZone.rules(zone)
        var random = SplitMix64(seed: 3)
        for _ in 0..<600 {
            let (start, end) = (Int.random(in: 0..<1440, using: &random), Int.random(in: 0..<1440, using: &random))
            guard start != end else { continue }
            let texts = [start, end].map { "\(($0 / 60).padded(2)):\(($0 % 60).padded(2))" }
            let window = try DailyWindow(from: texts[0], to: texts[1])
            let instant = Timestamp(milliseconds: Int64.random(in: 0..<3_000_000_000_000, using: &random))
            let over = window.end(of: instant, in: rules)
            let span = rules.span(at: instant.seconds)
            if instant.seconds - span.start > 3 * 86_400, span.end - instant.seconds > 3 * 86_400 {
                let time = rules.localTime(at: instant)
                let minute = time.hour * 60 + time.minute
                #expect(
                    window.contains(instant, in: rules) == (start < end ? start <= minute && minute < end : start <= minute || minute < end)
                )
                if let over {
                    let shown = rules.localTime(at: over)
                    #expect(shown.hour * 60 + shown.minute == end && shown.second == 0 && over - instant <= .seconds(86_400))
                }
            }
            if let over {
                #expect(over > instant && !window.contains(over, in: rules))
                #expect(window.end(of: over + .milliseconds(-1), in: rules) == over)
            }
        }
    }

    @Test(
        arguments: [
            ("7:00", "22:00", "invalid time of day \"7:00\""), ("22:00", "25:00", "invalid time of day \"25:00\""),
            ("24:00", "07:00", "invalid time of day \"24:00\""), ("22:60", "07:00", "invalid time of day \"22:60\""),
            ("22:00", "24:01", "invalid time of day \"24:01\""), ("22", "07:00", "invalid time of day \"22\""),
            ("22:00:00", "07:00", "invalid time of day \"22:00:00\""), ("", "07:00", "invalid time of day \"\""),
            ("+1:00", "07:00", "invalid time of day \"+1:00\""), ("２２:00", "07:00", "invalid time of day \"２２:00\""),
            ("07:00", "07:00", "the window from 07:00 to 07:00 starts when it ends"),
            ("00:00", "24:00", "the window from 00:00 to 24:00 starts when it ends"),
        ])
    func `An invalid window is rejected`(start: String, end: String, message: String) {
        let error = #expect(throws: PushError.self) { try DailyWindow(from: start, to: end) }
        #expect(error?.code == "daily_window.invalid" && error?.message == message && error?.status == 400)
    }
}
