/// A part of every day by the clocks of a time zone, such as quiet hours: `22:00` to `07:00`, which crosses midnight.
///
/// It begins when the clocks first show its start, or are set forward past that, and ends when they show its end for the last time,
/// or are set forward past that: no change of the clocks interrupts it, and it lasts longer rather than shorter. One that they leave
/// out as a whole is not there on that day.
package struct DailyWindow: Hashable, Sendable, CustomStringConvertible {
    /// Minutes from midnight on.
    private let start: Int
    private let end: Int

    /// - Parameters:
    ///   - start: `22:00`, from `00:00` to `23:59`.
    ///   - end: the first minute that does not belong to it; `24:00` too.
    ///
    /// Throws `daily_window.invalid` for other texts, and for a window that begins when it ends.
    package init(from start: String, to end: String) throws(PushError) {
        self.start = try Self.minutes(start, upTo: 1439)
        self.end = try Self.minutes(end, upTo: 1440) % 1440
        guard self.start != self.end else {
            throw PushError(
                "daily_window.invalid", "a part of the day from \(start) to \(end) has no beginning and no end",
                hint: "write two different times, such as 22:00 and 07:00", status: 400)
        }
    }

    private static func minutes(_ text: String, upTo most: Int) throws(PushError) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= most
        else {
            throw PushError(
                "daily_window.invalid", "\"\(text.prefix(100))\" is no time of the day", hint: "write it as 07:00 or 22:30", status: 400)
        }
        return hour * 60 + minute
    }

    /// `22:00-07:00`
    package var description: String {
        [start, end].map { "\(($0 / 60).padded(2)):\(($0 % 60).padded(2))" }.joined(separator: "-")
    }

    /// Some microseconds of work; whoever asks for a crowd asks once for each time zone.
    package func contains(_ moment: Timestamp, in rules: TimeZoneRules) -> Bool { span(around: moment.seconds, rules) != nil }

    /// The first moment that does not belong to the window any more; nil for a moment outside of it.
    package func end(of moment: Timestamp, in rules: TimeZoneRules) -> Timestamp? {
        guard var span = span(around: moment.seconds, rules) else { return nil }
        // The window of the next day may have begun already where the clocks were set by hours.
        while let next = self.span(around: span.upperBound, rules) { span = next }
        return Timestamp(seconds: span.upperBound)
    }

    private func span(around second: Int64, _ rules: TimeZoneRules) -> Range<Int64>? {
        let today = rules.localTime(at: Timestamp(seconds: second)).day
        // Yesterday's is the other one that is likely. The rest is for clocks that are set by two days and three hours, the most that
        // offsets allow.
        for day in [0, -1, 1, -2, 2, -3, 3, -4] {
            if let span = span(of: today + Int64(day), rules), span.contains(second) { return span }
        }
        return nil
    }

    /// From the beginning on that day; nil where the clocks leave it out.
    private func span(of day: Int64, _ rules: TimeZoneRules) -> Range<Int64>? {
        let first = rules.firstSecond(reaching: day * 86_400 + Int64(start * 60))
        let last = rules.lastSecond(reaching: (end > start ? day : day + 1) * 86_400 + Int64(end * 60))
        return first < last ? first..<last : nil
    }
}
