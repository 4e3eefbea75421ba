import Lua
import PushModel

/// The argument of `os.time`, always in UTC. Year, month and day are required and the hour defaults to 12, as in Lua 5.4.
struct CalendarFields {
    let seconds: Int64

    init(_ table: LuaTable) throws(LuaError) {
        func field(_ name: String, _ fallback: Int64?) throws(LuaError) -> Int64 {
            switch table.fields[name] {
            case .integer(let value)? where (-(1 << 31)...(1 << 31)).contains(value): return value
            case .number(let value)? where value == value.rounded() && abs(value) < 2e9: return Int64(value)
            case nil where fallback != nil: return fallback ?? 0
            default:
                throw .misuse(
                    "args.wrong_type", "os.time: field \"\(name)\" must be a whole number", hint: "give year, month and day")
            }
        }
        let month = try field("month", nil) - 1
        let year = try field("year", nil) + Int64((Double(month) / 12).rounded(.down))
        let first = CivilDate(year: Int(year), month: Int((month % 12 + 12) % 12) + 1, day: 1)
        let days = first.daysSince1970 + (try field("day", nil)) - 1
        seconds = days * 86_400 + (try field("hour", 12)) * 3600 + (try field("min", 0)) * 60 + (try field("sec", 0))
    }
}

/// A format of `os.date`: strftime in the C locale, in UTC; `*t` returns a table.
struct DateFormat {
    private let format: String

    init(_ format: String) {
        self.format = format.hasPrefix("!") ? String(format.dropFirst()) : format
    }

    /// Reads the second argument of `os.date`: seconds since 1970, within the years 1 to 9999.
    static func time(_ value: LuaValue, now: Timestamp) throws(LuaError) -> Timestamp {
        switch value {
        case .nil: return now
        case .integer(let seconds) where Timestamp.printable.contains(seconds): return Timestamp(seconds: seconds)
        case .number(let seconds) where seconds.isFinite && abs(seconds) < 6e10:
            return Timestamp(seconds: Int64(seconds.rounded(.down)))
        default:
            throw .misuse(
                "args.time", "os.date needs a time within the years 1 to 9999, got \(value.phrase)", hint: "pass seconds since 1970")
        }
    }

    func value(at timestamp: Timestamp) throws(LuaError) -> LuaValue {
        let days = timestamp.seconds >= 0 ? timestamp.seconds / 86_400 : (timestamp.seconds - 86_399) / 86_400
        let date = CivilDate(daysSince1970: days)
        let second = Int(timestamp.seconds - days * 86_400)
        let clock = (hour: second / 3600, minute: second / 60 % 60, second: second % 60)
        let dayOfYear = Int(days - CivilDate(year: date.year, month: 1, day: 1).daysSince1970) + 1
        if format == "*t" {
            return .table(
                LuaTable(fields: [
                    "year": .integer(Int64(date.year)), "month": .integer(Int64(date.month)), "day": .integer(Int64(date.day)),
                    "hour": .integer(Int64(clock.hour)), "min": .integer(Int64(clock.minute)),
                    "sec": .integer(Int64(clock.second)), "wday": .integer(Int64(date.weekday + 1)),
                    "yday": .integer(Int64(dayOfYear)), "isdst": .boolean(false),
                ]))
        }
        let weekday = Self.weekdays[date.weekday]
        let month = Self.months[date.month - 1]
        let time = "\(clock.hour.padded(2)):\(clock.minute.padded(2)):\(clock.second.padded(2))"
        var text = ""
        var characters = format.makeIterator()
        while let character = characters.next() {
            guard character == "%" else {
                text.append(character)
                continue
            }
            switch characters.next() {
            case "Y": text += String(date.year)
            case "y": text += (date.year % 100).padded(2)
            case "m": text += date.month.padded(2)
            case "d": text += date.day.padded(2)
            case "e": text += date.day < 10 ? " \(date.day)" : "\(date.day)"
            case "H": text += clock.hour.padded(2)
            case "I": text += ((clock.hour + 11) % 12 + 1).padded(2)
            case "M": text += clock.minute.padded(2)
            case "S": text += clock.second.padded(2)
            case "p": text += clock.hour < 12 ? "AM" : "PM"
            case "A": text += weekday
            case "a": text += weekday.prefix(3)
            case "B": text += month
            case "b", "h": text += month.prefix(3)
            case "j": text += dayOfYear.padded(3)
            case "w": text += String(date.weekday)
            case "u": text += String(date.weekday == 0 ? 7 : date.weekday)
            case "F": text += "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))"
            case "T", "X": text += time
            case "R": text += "\(clock.hour.padded(2)):\(clock.minute.padded(2))"
            case "D", "x": text += "\(date.month.padded(2))/\(date.day.padded(2))/\((date.year % 100).padded(2))"
            case "c":
                let day = date.day < 10 ? " \(date.day)" : "\(date.day)"
                text += "\(weekday.prefix(3)) \(month.prefix(3)) \(day) \(time) \(date.year)"
            case "s": text += String(timestamp.seconds)
            case "Z": text += "UTC"
            case "z": text += "+0000"
            case "n": text += "\n"
            case "t": text += "\t"
            case "%": text += "%"
            case let other:
                throw .misuse(
                    "args.date_format", "os.date does not support %\(other.map(String.init) ?? "")",
                    hint: "use the formats of strftime that do not depend on a locale")
            }
        }
        return .string(text)
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}

extension Timestamp {
    /// Seconds since 1970 of the years 1 to 9999.
    fileprivate static let printable: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
}
