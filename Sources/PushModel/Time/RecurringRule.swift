/// The rule after the last change in a time zone's file: one fixed offset, or two that alternate every year.
///
/// The `TZ` string of POSIX (IEEE 1003.1, section 8.3) with the times of RFC 9636, section 3.3.1, from −167 to 167 hours.
struct RecurringRule: Sendable, Equatable {
    typealias Offset = TimeZoneRules.Offset

    /// A day and time of every year.
    struct YearlyTime: Sendable, Equatable {
        enum Day: Sendable, Equatable {
            /// Day 1 to 365; 29 February is not counted.
            case ofCommonYear(Int)
            /// Day 0 to 365, including 29 February.
            case ofYear(Int)
            /// A weekday (0 = Sunday) in a week of the month; week 5 is the last.
            case ofMonth(Int, week: Int, weekday: Int)
        }

        let day: Day
        /// Seconds from midnight; may reach into earlier and later days.
        let seconds: Int

        /// The local time in that year, in seconds as in `LocalTime`.
        func local(in year: Int) -> Int64 {
            let january = CivilDate(year: year, month: 1, day: 1).daysSince1970
            let days: Int64
            switch day {
            case .ofCommonYear(let number):
                let isBehind = number >= 60 && CivilDate.daysIn(month: 2, year: year) == 29
                days = january + Int64(isBehind ? number : number - 1)
            case .ofYear(let number):
                days = january + Int64(number)
            case .ofMonth(let month, let week, let weekday):
                let first = CivilDate(year: year, month: month, day: 1)
                var date = 1 + (weekday - first.weekday + 7) % 7 + (week - 1) * 7
                if date > CivilDate.daysIn(month: month, year: year) { date -= 7 }
                days = first.daysSince1970 + Int64(date - 1)
            }
            return days * 86_400 + Int64(seconds)
        }
    }

    struct Daylight: Sendable, Equatable {
        let offset: Offset
        let start: YearlyTime
        let end: YearlyTime
    }

    let standard: Offset
    let daylight: Daylight?

    /// - Parameter first: the second from which the rule applies.
    func span(at second: Int64, from first: Int64) -> TimeZoneRules.Span {
        guard let daylight else { return TimeZoneRules.Span(start: first, end: .max, offset: standard) }
        var (start, end, offset) = (first, Int64.max, standard)
        let year = CivilDate(daysSince1970: second.dividedDown(by: 86_400)).year
        // Changes may fall more than a week before or after their year. If they overlap, those of the later year apply.
        for year in (year - 2)...(year + 2) {
            for change in changes(of: daylight, in: year) {
                if change.second <= second {
                    start = max(start, change.second)
                    offset = change.offset
                } else {
                    end = min(end, change.second)
                }
            }
        }
        return TimeZoneRules.Span(start: start, end: end, offset: offset)
    }

    private func changes(of daylight: Daylight, in year: Int) -> [(second: Int64, offset: Offset)] {
        let start = daylight.start.local(in: year) - Int64(standard.seconds)
        let end = daylight.end.local(in: year) - Int64(daylight.offset.seconds)
        let length: Int64 = CivilDate.daysIn(month: 2, year: year) == 29 ? 366 : 365
        // Daylight time all year is written as a period as long as the year.
        if start == end || end - start >= length * 86_400 { return [(start, daylight.offset)] }
        return start < end ? [(start, daylight.offset), (end, standard)] : [(end, standard), (start, daylight.offset)]
    }
}

// MARK: - Reading

extension RecurringRule {
    /// Reads a rule such as `WET0WEST,M3.5.0/1,M10.5.0`; nil for an invalid one.
    init?(posix bytes: some Sequence<UInt8>) {
        var reader = Reader(bytes)
        guard let name = reader.name(), let west = reader.offset() else { return nil }
        standard = Offset(seconds: -west, abbreviation: name, isDaylight: false)
        if reader.isAtEnd {
            daylight = nil
            return
        }
        guard let name = reader.name(),
            let west = reader.isAt(",") ? west - 3600 : reader.offset(),
            reader.skip(","), let start = reader.yearlyTime(),
            reader.skip(","), let end = reader.yearlyTime(),
            reader.isAtEnd
        else { return nil }
        let offset = Offset(seconds: -west, abbreviation: name, isDaylight: true)
        daylight = Daylight(offset: offset, start: start, end: end)
    }

    private struct Reader {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

        var isAtEnd: Bool { rest.isEmpty }

        func isAt(_ character: Unicode.Scalar) -> Bool { rest.first == UInt8(ascii: character) }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard isAt(character) else { return false }
            rest.removeFirst()
            return true
        }

        /// At least three letters, or letters, digits and signs in angle brackets.
        mutating func name() -> String? {
            let isQuoted = skip("<")
            let name = rest.prefix { $0.isLetter || isQuoted && ($0.isDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")) }
            rest = rest.dropFirst(name.count)
            guard name.count >= 3, !isQuoted || skip(">") else { return nil }
            return String(decoding: name, as: UTF8.self)
        }

        /// Seconds west of UTC.
        mutating func offset() -> Int? { seconds(hours: 24) }

        mutating func yearlyTime() -> YearlyTime? {
            let day: YearlyTime.Day
            if skip("M") {
                guard let month = number(in: 1...12), skip("."), let week = number(in: 1...5), skip("."),
                    let weekday = number(in: 0...6)
                else { return nil }
                day = .ofMonth(month, week: week, weekday: weekday)
            } else if skip("J") {
                guard let number = number(in: 1...365) else { return nil }
                day = .ofCommonYear(number)
            } else {
                guard let number = number(in: 0...365) else { return nil }
                day = .ofYear(number)
            }
            guard skip("/") else { return YearlyTime(day: day, seconds: 2 * 3600) }
            return seconds(hours: 167).map { YearlyTime(day: day, seconds: $0) }
        }

        /// A time or offset: `2`, `-1:30`, `+10:00:30`.
        private mutating func seconds(hours most: Int) -> Int? {
            let sign = skip("-") ? -1 : 1
            if sign == 1 { _ = skip("+") }
            guard let hours = number(in: 0...most) else { return nil }
            var seconds = hours * 3600
            for unit in [60, 1] where skip(":") {
                guard let number = number(in: 0...59) else { return nil }
                seconds += number * unit
            }
            return sign * seconds
        }

        private mutating func number(in range: ClosedRange<Int>) -> Int? {
            let digits = rest.prefix { $0.isDigit }
            rest = rest.dropFirst(digits.count)
            return Int(String(decoding: digits, as: UTF8.self)).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5a).contains(self & 0xdf) }
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
}
