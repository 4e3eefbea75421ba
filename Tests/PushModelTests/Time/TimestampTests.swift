import PushModel
import Testing

@Suite struct TimestampTests {
    @Test(
        "A time in UTC is read and written unchanged",
        arguments: [
            "1970-01-01T00:00:00.000Z", "2026-01-05T09:00:00.123Z", "2024-02-29T23:59:59.999Z",
            "2000-02-29T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "1900-03-01T00:00:00.000Z",
            "9999-12-31T23:59:59.999Z",
        ])
    func roundTrip(text: String) throws {
        let time = try #require(Timestamp(iso8601: text))
        #expect(time.description == text)
        #expect(time.digits == text.prefix(19).filter(\.isNumber))
    }

    @Test("Every day from 1890 to 2110 has its own date, in order") func everyDay() {
        var expected = CivilDate(year: 1890, month: 1, day: 1)
        var number = expected.daysSince1970
        while expected.year < 2110 {
            let date = CivilDate(daysSince1970: number)
            #expect(date == expected && date.daysSince1970 == number)
            expected.day += 1
            if expected.day > CivilDate.daysIn(month: expected.month, year: expected.year) {
                expected.day = 1
                expected.month += 1
            }
            if expected.month > 12 {
                expected.month = 1
                expected.year += 1
            }
            number += 1
        }
    }

    @Test(
        "Other spellings mean the same time",
        arguments: [
            ("2026-01-05T10:30:00+01:30", "2026-01-05T09:00:00.000Z"),
            ("2026-01-05T01:00:00-0800", "2026-01-05T09:00:00.000Z"),
            ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"),
            ("2026-01-05 09:00", "2026-01-05T09:00:00.000Z"),
            ("2026-01-05t09:00:00z", "2026-01-05T09:00:00.000Z"),
            ("2026-01-05", "2026-01-05T00:00:00.000Z"),
            ("2026-11-21T05:28:52.434702+00:00", "2026-11-21T05:28:52.434Z"),
            ("2026-01-05T09:00:00.5Z", "2026-01-05T09:00:00.500Z"),
            ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
        ])
    func spellings(text: String, canonical: String) {
        #expect(Timestamp(iso8601: text)?.description == canonical)
    }

    @Test(
        "A date is parsed in every format that clients of Azure write",
        arguments: [
            "2026-11-21T05:28:52", "2026-11-21T06:28:52+01:00", "2026-11-21'T'05:28:52", "11/21/2026 05:28:52",
            "Sat, 21 Nov 2026 05:28:52 GMT",
        ])
    func dates(text: String) {
        #expect(Timestamp(date: text) == Timestamp(seconds: 1_795_238_932))
        for wrong in ["\(text)x", text.replacing("21", with: "41")] { #expect(Timestamp(date: wrong) == nil, "\(wrong)") }
    }

    @Test(
        "An invalid time is rejected",
        arguments: [
            "", "tomorrow", "2026-13-01", "2026-00-01", "2026-01-00", "2026-01-32", "2026-04-31", "2025-02-29",
            "1900-02-29", "2026-1-5", "26-01-05", "2026-01-05T", "2026-01-05T9:00", "2026-01-05T24:00:00Z",
            "2026-01-05T09:60:00Z", "2026-01-05T09:00:61Z", "2026-01-05T09:00:00.Z", "2026-01-05T09:00:00+24:00",
            "2026-01-05T09:00:00+1", "2026-01-05T09:00:00Zz", "2026-01-05T09:00:00 Z", " 2026-01-05", "٢٠٢٦-01-05",
        ])
    func rejects(text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test("Seconds and the time of day are also rounded down before 1970") func beforeTheEpoch() {
        let time = Timestamp(milliseconds: -1)
        #expect(time.seconds == -1)
        #expect(time.timeOfDay == "23:59:59.999")
        #expect(Timestamp(milliseconds: -1000).seconds == -1)
        #expect(Timestamp(milliseconds: -1001).seconds == -2)
    }

    @Test("The first and last times do not overflow") func extremes() {
        let first = Timestamp(seconds: .min)
        let last = Timestamp(seconds: .max)
        #expect(first.milliseconds == .min && last.milliseconds == .max)
        #expect(last + .seconds(1) == last)
        #expect(first + .seconds(-1) == first)
        #expect(last - first == .milliseconds(Int64.max))
        #expect(first - last == .milliseconds(Int64.min))
        #expect(Timestamp(seconds: 0) + .seconds(Int64.max) == last)
        #expect(!first.description.isEmpty && !last.timeOfDay.isEmpty && !first.digits.isEmpty && !last.digits.isEmpty)
    }

    @Test("A duration in milliseconds is rounded up, so that no wait ends early") func durations() {
        #expect(Duration.nanoseconds(1).milliseconds == 1)
        #expect(Duration.milliseconds(1).milliseconds == 1)
        #expect(Duration.microseconds(1001).milliseconds == 2)
        #expect(Duration.zero.milliseconds == 0)
        #expect(Duration.microseconds(-1500).milliseconds == -1)
    }

    @Test("The weekday follows from the date") func weekdays() {
        #expect(CivilDate(year: 2026, month: 1, day: 5).weekday == 1)
        #expect(CivilDate(year: 1970, month: 1, day: 1).weekday == 4)
        #expect(CivilDate(year: 1969, month: 12, day: 28).weekday == 0)
    }

    @Test("Numbers are padded between sign and digits") func padding() {
        #expect(7.padded(3) == "007")
        #expect(1234.padded(3) == "1234")
        #expect((-7).padded(3) == "-007")
    }
}
