import ArgumentParser
import PushCore

struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Have the clock start a server's flows: add, list, pause, resume and remove schedules.",
        subcommands: [
            ScheduleListCommand.self, ScheduleAddCommand.self, SchedulePauseCommand.self, ScheduleResumeCommand.self,
            ScheduleRemoveCommand.self,
        ])
}

struct ScheduleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The schedules of a server, with the five moments at which each comes next.")

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let schedules = try await client.allItems(ManagementClient.path("schedules"))
            return CommandResult(json: ["items": .array(schedules), "hasMore": false]) { palette in
                schedules.isEmpty
                    ? ["no schedules: pushhost schedule add NAME --flow FLOW --cron \"30 9 * * MON-FRI\""]
                    : schedules.flatMap { ScheduleLines(palette: palette).lines($0) }
            }
        }
    }
}

struct ScheduleAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Have the clock start a flow, from what comes next on.",
        discussion: """
            --cron takes minute, hour, day of the month, month and day of the week, as cron does: "30 9 * * MON-FRI", or @hourly, @daily, \
            @weekly, @monthly, @yearly.
            """)

    @Argument(help: "A name for it.")
    var name: String

    @Option(help: "The flow, as pushhost flows lists it.")
    var flow: String

    @Option(help: "When.")
    var cron: String

    @Option(help: "The time zone, by its IANA name such as Europe/Lisbon.")
    var timeZone = "UTC"

    @Option(
        help: "What becomes of moments that come while no server runs.", completion: .list(MissedPolicy.allCases.map(\.rawValue)))
    var missed = MissedPolicy.skip.rawValue

    @OptionGroup
    var arguments: FlowArguments

    @OptionGroup
    var server: ServerOptions

    func validate() throws {
        // What needs no server is said at once.
        guard MissedPolicy(rawValue: missed) != nil else {
            let names = MissedPolicy.allCases.map(\.rawValue)
            let near = nearest(missed, in: names).map { "; did you mean \($0)?" } ?? ""
            throw ValidationError("--missed \(missed): it is \(names.joined(separator: ", "))\(near)")
        }
    }

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            _ = try CronSchedule(cron)
            _ = try SystemTimeZones.shared.rules(of: timeZone)
            return try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let kept = try await client.post(
                    ManagementClient.path("schedules"),
                    body: [
                        "name": .string(name), "flow": .string(flow), "cron": .string(cron), "timeZone": .string(timeZone),
                        "missed": .string(missed), "arguments": try await arguments.values(of: flow, client),
                    ])
                return CommandResult(json: kept) { ScheduleLines(palette: $0).lines(kept) }
            }
        }
    }
}

struct SchedulePauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Let a schedule start nothing until it is resumed.")

    @Argument(help: "Its name.")
    var name: String

    @OptionGroup
    var server: ServerOptions

    func run() async { await ScheduleLines.change(name, "pause", server) }
}

struct ScheduleResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Let a schedule start its flow again; what came meanwhile is passed over.")

    @Argument(help: "Its name.")
    var name: String

    @OptionGroup
    var server: ServerOptions

    func run() async { await ScheduleLines.change(name, "resume", server) }
}

struct ScheduleRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Take a schedule away. Runs that have begun go on.")

    @Argument(help: "Its name.")
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

/// Schedules as lines of text.
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
        if !given.isEmpty { lines.append("  given    \(given)".printable) }
        lines.append("  missed   \(schedule["missed"]?.string ?? "")")
        let rules = try? SystemTimeZones.shared.rules(of: zone)
        for (number, moment) in (schedule["next"]?.array ?? []).compactMap(\.string).enumerated() {
            let time = Timestamp(iso8601: moment)
            let utc = time?.iso8601(fraction: false) ?? moment
            let local = zone == "UTC" ? nil : time.flatMap { time in rules.map { "\($0.localTime(at: time))" } }
            lines.append("  \(number == 0 ? "next  " : "      ")   \(utc)\(local.map { "  \($0) there" } ?? "")")
        }
        return lines
    }

    /// Pauses a schedule, or resumes it, and shows it.
    static func change(_ name: String, _ verb: String, _ server: ServerOptions) async -> Never {
        await server.run { client throws(PushError) in
            let kept = try await client.post(
                ManagementClient.path("schedules", name, verb), body: .object(JSONObject()))
            return CommandResult(json: kept) { ScheduleLines(palette: $0).lines(kept) }
        }
    }
}
