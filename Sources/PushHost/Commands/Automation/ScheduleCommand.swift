import ArgumentParser
import PushModel
import PushRuntime

struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Manage cron schedules.",
        discussion: "Example: pushhost schedule list",
        subcommands: [
            ScheduleListCommand.self, ScheduleAddCommand.self, SchedulePauseCommand.self, ScheduleResumeCommand.self,
            ScheduleRemoveCommand.self,
        ])
}

struct ScheduleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List schedules, each with its next five due times.",
        discussion: "Example: pushhost schedule list")

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let schedules = try await client.allItems(ManagementClient.path("schedules"))
            return CommandResult(json: ["items": .array(schedules), "hasMore": false]) { palette in
                schedules.isEmpty
                    ? ["no schedules; add one with pushhost schedule add NAME --flow FLOW --cron \"30 9 * * MON-FRI\""]
                    : schedules.flatMap { ScheduleLines(palette: palette).lines($0) }
            }
        }
    }
}

struct ScheduleAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a cron schedule for a flow.",
        discussion: """
            --cron has five fields: minute, hour, day of the month, month and day of the week; or it is @hourly, @daily, @weekly, @monthly \
            or @yearly.

            Example: pushhost schedule add morning --flow digest --cron "30 9 * * MON-FRI" --time-zone Europe/Lisbon
            """)

    @Argument(help: "Name of the new schedule.")
    var name: String

    @Option(help: ArgumentHelp("Name of the flow, as pushhost flows lists it.", valueName: "name"))
    var flow: String

    @Option(help: ArgumentHelp("Cron expression.", valueName: "expression"))
    var cron: String

    @Option(help: ArgumentHelp("IANA name of the time zone, such as Europe/Lisbon.", valueName: "name"))
    var timeZone = "UTC"

    @Option(help: ArgumentHelp("What to do about runs missed while the server was down.", valueName: "policy"))
    var missed = MissedPolicy.skip

    @OptionGroup
    var arguments: FlowArguments

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            _ = try CronSchedule(cron)
            _ = try SystemTimeZones.shared.rules(of: timeZone)
            return try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let schedule = try await client.post(
                    ManagementClient.path("schedules"),
                    body: [
                        "name": .string(name), "flow": .string(flow), "cron": .string(cron), "timeZone": .string(timeZone),
                        "missed": .string(missed.rawValue), "arguments": try await arguments.values(of: flow, client),
                    ])
                return CommandResult(json: schedule) { ScheduleLines(palette: $0).lines(schedule) }
            }
        }
    }
}

struct SchedulePauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause a schedule until it is resumed.",
        discussion: "Example: pushhost schedule pause morning")

    @Argument(help: "Name of the schedule, as pushhost schedule list shows it.")
    var name: String

    @OptionGroup
    var server: ServerOptions

    func run() async { await ScheduleLines.change(name, "pause", server) }
}

struct ScheduleResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume a paused schedule. Runs due during the pause are skipped.",
        discussion: "Example: pushhost schedule resume morning")

    @Argument(help: "Name of the schedule, as pushhost schedule list shows it.")
    var name: String

    @OptionGroup
    var server: ServerOptions

    func run() async { await ScheduleLines.change(name, "resume", server) }
}

struct ScheduleRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a schedule. Runs that have started continue.",
        discussion: "Example: pushhost schedule remove morning")

    @Argument(help: "Name of the schedule, as pushhost schedule list shows it.")
    var name: String

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            try await client.delete(ManagementClient.path("schedules", name))
            return CommandResult(json: ["name": .string(name)]) { ["\($0.green("✓")) schedule \(name.printable) removed"] }
        }
    }
}

/// Formats schedules as text.
struct ScheduleLines {
    let palette: Palette

    func lines(_ schedule: JSON) -> [String] {
        let isPaused = schedule["isPaused"] == true
        let place = schedule["isConfigured"] == true ? "  in the settings file" : ""
        let state = isPaused ? "  \(palette.yellow("paused"))" : ""
        let zone = schedule["timeZone"]?.string ?? ""
        var lines = [
            "\(palette.bold((schedule["name"]?.string ?? "").printable))  \((schedule["flow"]?.string ?? "").printable)  \((schedule["cron"]?.string ?? "").printable) \(zone)\(state)\(palette.dim(place))"
        ]
        let given = schedule["arguments"]?.pairs ?? ""
        if !given.isEmpty { lines.append("  args     \(given)".printable) }
        lines.append("  missed   \(schedule["missed"]?.string ?? "")")
        let rules = try? SystemTimeZones.shared.rules(of: zone)
        for (number, dueTime) in (schedule["next"]?.array ?? []).compactMap(\.string).enumerated() {
            let time = Timestamp(iso8601: dueTime)
            let utc = time?.iso8601(fraction: false) ?? dueTime
            let local = zone == "UTC" ? nil : time.flatMap { time in rules.map { "\($0.localTime(at: time))" } }
            lines.append("  \(number == 0 ? "next  " : "      ")   \(utc)\(local.map { "  \($0) local" } ?? "")")
        }
        return lines
    }

    /// Pauses or resumes a schedule, then shows it.
    static func change(_ name: String, _ verb: String, _ server: ServerOptions) async -> Never {
        await server.run { client throws(PushError) in
            let schedule = try await client.post(
                ManagementClient.path("schedules", name, verb), body: .object(JSONObject()))
            return CommandResult(json: schedule) { ScheduleLines(palette: $0).lines(schedule) }
        }
    }
}
