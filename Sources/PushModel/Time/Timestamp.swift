/// A point in time, in milliseconds since 1970-01-01T00:00:00Z. The unit of all times in the hub.
public struct Timestamp: Hashable, Comparable, Sendable {
    @usableFromInline package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970, rounded down.
    package var seconds: Int64 { milliseconds.dividedDown(by: 1000) }

    /// Azure's "never": 9999-12-31T23:59:59.999Z.
    package static let distantFuture = Timestamp(milliseconds: 253_402_300_799_999)

    @inlinable public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool { lhs.milliseconds < rhs.milliseconds }

    package static func + (lhs: Timestamp, rhs: Duration) -> Timestamp {
        Timestamp(milliseconds: lhs.milliseconds.addingSaturated(rhs.milliseconds))
    }

    package static func - (lhs: Timestamp, rhs: Timestamp) -> Duration {
        let (difference, overflow) = lhs.milliseconds.subtractingReportingOverflow(rhs.milliseconds)
        return .milliseconds(overflow ? (lhs < rhs ? .min : .max) : difference)
    }
}

extension Duration {
    /// Whole milliseconds, rounded up so that a wait never ends early.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let fraction =
            attoseconds <= 0
            ? attoseconds / 1_000_000_000_000_000 : (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return seconds.multipliedReportingOverflow(by: 1000).overflow
            ? (seconds < 0 ? .min : .max) : (seconds * 1000).addingSaturated(fraction)
    }
}

extension Int64 {
    package func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The quotient rounded down, also for negative numbers.
    func dividedDown(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

// MARK: - ISO 8601

extension Timestamp: CustomStringConvertible {
    /// `2026-01-05T09:00:00.000Z`
    public var description: String { iso8601(fraction: true) }

    /// RFC 3339 in UTC, with or without milliseconds.
    package func iso8601(fraction: Bool) -> String {
        let (date, time) = calendar
        let clock = "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))T\(time)"
        return fraction ? "\(clock).\(millisecondOfSecond.padded(3))Z" : "\(clock)Z"
    }

    /// `20260105100411`: year to second in UTC, digits only.
    package var digits: String {
        let days = seconds.dividedDown(by: 86_400)
        let (date, rest) = (CivilDate(daysSince1970: days), Int(seconds - days * 86_400))
        let day = (date.year * 100 + date.month) * 100 + date.day
        return (((day * 100 + rest / 3600) * 100 + rest / 60 % 60) * 100 + rest % 60).padded(14)
    }

    /// `10:04:11.002`: the time of day in UTC, as logs and traces show it.
    package var timeOfDay: String { "\(calendar.time).\(millisecondOfSecond.padded(3))" }

    private var millisecondOfSecond: Int {
        let rest = Int(milliseconds % 1000)
        return rest < 0 ? rest + 1000 : rest
    }

    private var calendar: (date: CivilDate, time: String) {
        let days = seconds.dividedDown(by: 86_400)
        let rest = Int(seconds - days * 86_400)
        let time = "\((rest / 3600).padded(2)):\((rest / 60 % 60).padded(2)):\((rest % 60).padded(2))"
        return (CivilDate(daysSince1970: days), time)
    }

    /// Reads RFC 3339 (`2026-01-05T09:00:00Z`, with an optional offset and fraction). UTC if there is no offset.
    package init?(iso8601 text: String) {
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), (1...12).contains(month), day >= 1,
            day <= CivilDate.daysIn(month: month, year: year)
        else { return nil }
        var seconds = CivilDate(year: year, month: month, day: day).daysSince1970 * 86_400
        var milliseconds: Int64 = 0
        if reader.skip("T") || reader.skip("t") || reader.skip(" ") {
            guard let hour = reader.number(2), hour < 24, reader.skip(":"), let minute = reader.number(2), minute < 60
            else { return nil }
            seconds += Int64(hour * 3600 + minute * 60)
            if reader.skip(":") {
                guard let second = reader.number(2), second < 61 else { return nil }
                seconds += Int64(second)
                if reader.skip(".") {
                    guard let fraction = reader.fraction() else { return nil }
                    milliseconds = fraction
                }
            }
            guard let offset = reader.offset() else { return nil }
            seconds -= Int64(offset)
        }
        guard reader.isAtEnd else { return nil }
        self.init(milliseconds: seconds * 1000 + milliseconds)
    }
}

/// A day in the proleptic Gregorian calendar. Conversions use Howard Hinnant's `days_from_civil` algorithm.
package struct CivilDate: Equatable, Sendable {
    package var year: Int
    package var month: Int
    package var day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    package init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Day of the week; 0 is Sunday.
    package var weekday: Int { Int(((daysSince1970 + 4) % 7 + 7) % 7) }

    package static func daysIn(month: Int, year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

private struct DigitReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(_ digits: Int) -> Int? {
        var value = 0
        for _ in 0..<digits {
            guard let byte = rest.first, (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
            rest.removeFirst()
        }
        return value
    }

    /// One or more digits after the decimal point, as milliseconds.
    mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var digits = 0
        while let byte = rest.first, (0x30...0x39).contains(byte) {
            if digits < 3 { value = value * 10 + Int64(byte - 0x30) }
            digits += 1
            rest.removeFirst()
        }
        guard digits > 0 else { return nil }
        for _ in digits..<max(3, digits) { value *= 10 }
        return value
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hour = number(2), hour < 24 else { return nil }
        _ = skip(":")
        guard let minute = number(2), minute < 60 else { return nil }
        return sign * (hour * 3600 + minute * 60)
    }
}

extension Int {
    /// Decimal, with leading zeros up to `width` digits.
    package func padded(_ width: Int) -> String {
        let digits = String(magnitude)
        let zeros = String(repeating: "0", count: Swift.max(0, width - digits.count))
        return (self < 0 ? "-" : "") + zeros + digits
    }
}
