import ArgumentParser
import PushCore

struct RunsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "List the runs of a server's flows, show one, start, cancel and repeat them.",
        subcommands: [
            RunsListCommand.self, RunsShowCommand.self, RunsStartCommand.self, RunsCancelCommand.self, RunsRerunCommand.self,
        ])
}

struct RunsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "The runs of flows, newest first.")

    @Option(help: "Runs of this flow.")
    var flow: String?

    @Option(help: "Runs in this state.", completion: .list(RunRecord.State.allCases.map(\.rawValue)))
    var state: String?

    @Option(help: "Runs that began so.", completion: .list(RunTrigger.Kind.allCases.map(\.rawValue)))
    var trigger: String?

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let (runs, hasMore) = try await client.items(
                ManagementClient.path("runs"), [("flow", flow), ("state", state), ("trigger", trigger)], first: list.limit)
            return CommandResult(json: ["items": .array(runs), "hasMore": .bool(hasMore)]) { palette in
                runs.isEmpty ? ["no runs"] : RunReportLines(palette: palette).table(runs) + list.more(hasMore, palette)
            }
        }
    }
}

struct RunsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One run: why it began, its steps and its log, what came of it.",
        discussion: """
            Exit codes: 0 it is shown, also where it failed · 2 usage · 4 the server refuses: it does not know the run. pushhost runs \
            start --wait tells by its exit code whether a run completed.
            """)

    @Argument(help: "Its id.")
    var id: String

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let run = try await client.get(ManagementClient.path("runs", id))
            return CommandResult(json: run) { RunReportLines(palette: $0).lines(run) }
        }
    }
}

struct RunsStartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Start a flow of a server.",
        discussion: """
            Exit codes: 0 started, or with --wait completed · 1 with --wait: the run did not complete · 2 usage · 4 the server refuses or \
            does not answer · 130 interrupted: the run goes on.
            """)

    @Argument(help: "Its name: pushhost flows lists them.")
    var flow: String

    @OptionGroup
    var arguments: FlowArguments

    @Flag(help: "Wait for the end of the run, and show what came of it.")
    var wait = false

    @OptionGroup
    var server: ServerOptions

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let values = try await arguments.values(of: flow, client)
                let run = try await client.post(ManagementClient.path("flows", flow, "runs"), body: ["arguments": values])
                let id = run["runId"]?.string ?? ""
                guard wait else {
                    return CommandResult(json: run) { ["\($0.green("✓")) \(id.printable) of \(flow.printable) has begun"] }
                }
                let end = try await Interruption().cancelling { () throws(PushError) in
                    try await RunFollower(client: client, progress: session.progress).follow(id)
                }
                let isCompleted = end["state"]?.string == RunRecord.State.completed.rawValue
                return CommandResult(
                    json: end, lines: { RunReportLines(palette: $0).lines(end) },
                    status: isCompleted ? ExitStatus.pass : ExitStatus.failed)
            }
        }
    }
}

struct RunsCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End a run that has not ended. What it has sent is sent.")

    @Argument(help: "Its id.")
    var id: String

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let run = try await client.post(ManagementClient.path("runs", id, "cancel"), body: .object(JSONObject()))
            return CommandResult(json: run) { palette in
                let state = run["state"]?.string ?? ""
                let isCancelled = state == RunRecord.State.cancelled.rawValue
                return ["\(isCancelled ? palette.green("✓") : palette.dim("○")) \(id.printable) \(state)"]
            }
        }
    }
}

struct RunsRerunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rerun", abstract: "Begin a run once more: with the script as it is now, and what it was given then.")

    @Argument(help: "Its id.")
    var id: String

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let run = try await client.post(ManagementClient.path("runs", id, "rerun"), body: .object(JSONObject()))
            return CommandResult(json: run) {
                ["\($0.green("✓")) \((run["runId"]?.string ?? "").printable) has begun, \(id.printable) once more"]
            }
        }
    }
}
