/// A daily window in the local time of a time zone, such as quiet hours: `22:00` to `07:00`, which crosses midnight.
///
/// It starts when the clocks first show its start or skip past it, and ends when they show its end for the last time or skip past it. So no
/// clock change interrupts it, and it is rather too long than too short. If the clocks skip the whole window, it does not occur on that
/// day.
package struct DailyWindow: Hashable, Sendable, CustomStringConvertible {
    /// Minutes from midnight.
    private let start: Int
    private let end: Int

    /// - Parameters:
    ///   - start: `22:00`, from `00:00` to `23:59`.
    ///   - end: the first minute after the window; `24:00` is allowed.
    ///
    /// Throws `daily_window.invalid` for any other text, and for a window that ends at its start.
    package init(from start: String, to end: String) throws(PushError) {
        self.start = try Self.minutes(start, upTo: 1439)
        self.end = try Self.minutes(end, upTo: 1440) % 1440
        guard self.start != self.end else {
            throw PushError(
                "daily_window.invalid", "the window from \(start) to \(end) starts when it ends",
                hint: "use two different times, such as 22:00 and 07:00", status: 400)
        }
    }

    private static func minutes(_ text: String, upTo most: Int) throws(PushError) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= most
        else {
            throw PushError(
                "daily_window.invalid", "invalid time of day \"\(text.prefix(100))\"", hint: "write it as 07:00 or 22:30", status: 400)
        }
        return hour * 60 + minute
    }

    /// `22:00-07:00`
    package var description: String {
        [start, end].map { "\(($0 / 60).padded(2)):\(($0 % 60).padded(2))" }.joined(separator: "-")
    }

    /// Whether the time is in the window. Takes some microseconds; for many devices, call it once per time zone.
    package func contains(_ time: Timestamp, in rules: TimeZoneRules) -> Bool { span(around: time.seconds, rules) != nil }

    /// The first time after the window; nil if `time` is outside it.
    package func end(of time: Timestamp, in rules: TimeZoneRules) -> Timestamp? {
        guard var span = span(around: time.seconds, rules) else { return nil }
        // Large clock changes can make the next day's window start before this one ends.
        while let next = self.span(around: span.upperBound, rules) { span = next }
        return Timestamp(seconds: span.upperBound)
    }

    private func span(around second: Int64, _ rules: TimeZoneRules) -> Range<Int64>? {
        let today = rules.localTime(at: Timestamp(seconds: second)).day
        // Usually today's or yesterday's window. The other days cover clock changes of up to two days and three hours, the maximum that
        // offsets allow.
        for day in [0, -1, 1, -2, 2, -3, 3, -4] {
            if let span = span(of: today + Int64(day), rules), span.contains(second) { return span }
        }
        return nil
    }

    /// The window that starts on this day; nil if the clocks skip it.
    private func span(of day: Int64, _ rules: TimeZoneRules) -> Range<Int64>? {
        let first = rules.firstSecond(reaching: day * 86_400 + Int64(start * 60))
        let last = rules.lastSecond(reaching: (end > start ? day : day + 1) * 86_400 + Int64(end * 60))
        return first < last ? first..<last : nil
    }
}
