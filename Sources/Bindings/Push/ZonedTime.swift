import Lua
import PushModel

/// Times in time zones.
enum ZonedTimeBindings {
    private static let zone = Parameter.required("time_zone", .string, "an IANA name, such as Europe/Lisbon")

    static let clockLocal = Binding(
        "push.clock.zone", "Returns the local time in a time zone, now or at a given time.",
        takes: .leading([zone, .optional("at", .time, "now if absent")]),
        returns: "push.LocalTime", when: .in(.running), errors: ["time_zone.invalid", "time_zone.unknown"],
        example: "print(push.clock.zone(\"Europe/Lisbon\").hour)",
        body: .sync { arguments, run in
            let rules = try run.world.zones.rules(of: arguments.text("time_zone"))
            let time = try arguments.time("at") ?? run.world.clock.now
            return LocalTimeRecord(time: rules.localTime(at: time), offset: rules.offset(at: time))
        })

    static let clockNext = Binding(
        "push.clock.next", "Returns the next time of a cron expression in a time zone.",
        takes: .leading([
            .required("cron", .string, "five fields: minute, hour, day of the month, month, day of the week"),
            .optional("time_zone", .string, "an IANA name, UTC if absent"), .optional("after", .time, "now if absent"),
        ]),
        returns: "string", when: .in(.running), errors: ["cron.invalid", "time_zone.invalid", "time_zone.unknown"],
        example: "print(push.clock.next(\"0 7 * * 1-5\", { time_zone = \"Europe/Lisbon\" }))",
        body: .sync { arguments, run in
            let schedule = try CronSchedule(arguments.text("cron"))
            let rules = try run.world.zones.rules(of: arguments.string("time_zone") ?? "UTC")
            return schedule.next(after: try arguments.time("after") ?? run.world.clock.now, in: rules)?.description
        })

    static let clockWindow = Binding(
        "push.clock.window_end",
        "Returns the end of the current daily window in a time zone, such as 22:00 to 07:00; nil outside of the window.",
        takes: .leading([
            zone, .required("from", .string, "start of the window, 22:00"),
            .required("to", .string, "end of the window, 07:00; on the next day if it is earlier than the start"),
            .optional("at", .time, "now if absent"),
        ]),
        returns: "string?", when: .in(.running), errors: ["daily_window.invalid", "time_zone.invalid", "time_zone.unknown"],
        example: "local wake = push.clock.window_end(\"Europe/Lisbon\", { from = \"22:00\", to = \"07:00\" })",
        body: .sync { arguments, run in
            let rules = try run.world.zones.rules(of: arguments.text("time_zone"))
            let window = try DailyWindow(from: arguments.text("from"), to: arguments.text("to"))
            return window.end(of: try arguments.time("at") ?? run.world.clock.now, in: rules)?.description
        })

    static let clockZones = Binding(
        "push.clock.time_zones", "Lists the names of all time zones, in order.",
        returns: "string[]", when: .in(.running),
        example: "for _, zone in ipairs(push.clock.time_zones()) do print(zone) end",
        body: .sync { _, run in run.world.zones.names })
}

/// `push.LocalTime`.
struct LocalTimeRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("year", .integer), ("month", .integer), ("day", .integer), ("hour", .integer), ("minute", .integer), ("second", .integer),
        ("weekday", .integer), ("offset", .integer), ("abbreviation", .text), ("is_daylight", .boolean),
    ]

    let time: LocalTime
    let offset: TimeZoneRules.Offset

    func writeMembers(to writer: inout LuaWriter) {
        let date = time.date
        writer.write(date.year)
        writer.write(date.month)
        writer.write(date.day)
        writer.write(time.hour)
        writer.write(time.minute)
        writer.write(time.second)
        // Weekdays follow from 1 January 1970, a Thursday.
        writer.write(Int(((date.daysSince1970 + 3) % 7 + 7) % 7) + 1)
        writer.write(offset.seconds)
        writer.write(offset.abbreviation)
        writer.write(offset.isDaylight)
    }
}

extension TypeDescription {
    static let localTime = TypeDescription(
        "push.LocalTime", "A local time in a time zone.",
        fields: [
            Field("year", "integer", "such as 2026"),
            Field("month", "integer", "1 to 12"),
            Field("day", "integer", "1 to 31"),
            Field("hour", "integer", "0 to 23"),
            Field("minute", "integer", "0 to 59"),
            Field("second", "integer", "0 to 59"),
            Field("weekday", "integer", "1 for Monday to 7 for Sunday"),
            Field("offset", "integer", "offset from UTC in seconds"),
            Field("abbreviation", "string", "such as WEST"),
            Field("is_daylight", "boolean", "whether daylight saving time applies"),
        ])
}
