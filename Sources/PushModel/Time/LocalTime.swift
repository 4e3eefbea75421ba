/// The date and time of day on a local clock, to the second. `TimeZoneRules` converts it to and from timestamps.
package struct LocalTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Seconds since 1970-01-01T00:00:00 on the same clock, as if it had never been changed.
    package let seconds: Int64

    /// - Parameter seconds: clamped to the range of timestamps.
    package init(seconds: Int64) {
        let end = Int64.max / 1000
        self.seconds = min(max(seconds, -end), end)
    }

    package init(_ date: CivilDate, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        self.init(seconds: date.daysSince1970 * 86_400 + Int64(hour * 3600 + minute * 60 + second))
    }

    package var date: CivilDate { CivilDate(daysSince1970: day) }
    package var hour: Int { secondOfDay / 3600 }
    package var minute: Int { secondOfDay / 60 % 60 }
    package var second: Int { secondOfDay % 60 }

    /// Days since 1970-01-01.
    var day: Int64 { seconds.dividedDown(by: 86_400) }
    private var secondOfDay: Int { Int(seconds - day * 86_400) }

    /// `2026-01-05T09:00:00`
    package var description: String {
        let date = date
        return "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))"
            + "T\(hour.padded(2)):\(minute.padded(2)):\(second.padded(2))"
    }

    package static func < (lhs: LocalTime, rhs: LocalTime) -> Bool { lhs.seconds < rhs.seconds }
}
