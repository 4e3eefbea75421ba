import ArgumentParser
import PushModel
import PushRuntime

struct RunsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "Start, list, show, cancel and repeat runs of a server's flows.",
        discussion: "Example: pushhost runs list --state failed",
        subcommands: [
            RunsListCommand.self, RunsShowCommand.self, RunsStartCommand.self, RunsCancelCommand.self, RunsRerunCommand.self,
        ])
}

struct RunsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List runs of flows, newest first.",
        discussion: "Example: pushhost runs list --flow morning --state failed")

    @Option(help: ArgumentHelp("Only runs of this flow.", valueName: "name"))
    var flow: String?

    @Option(help: ArgumentHelp("Only runs in this state.", valueName: "name"))
    var state: RunRecord.State?

    @Option(help: ArgumentHelp("Only runs with this kind of trigger.", valueName: "kind"))
    var trigger: RunTrigger.Kind?

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let (runs, hasMore) = try await client.items(
                ManagementClient.path("runs"), [("flow", flow), ("state", state?.rawValue), ("trigger", trigger?.rawValue)],
                first: list.limit)
            return CommandResult(json: ["items": .array(runs), "hasMore": .bool(hasMore)]) { palette in
                runs.isEmpty ? ["no runs"] : RunReportLines(palette: palette).table(runs) + list.more(hasMore, palette)
            }
        }
    }
}

struct RunsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a run: its trigger, steps, log and result.",
        discussion: """
            Example: pushhost runs show r-6

            Exit codes: 0 shown, even if the run failed · 2 usage · 4 server error, for example an unknown run. To learn from the exit \
            code whether a run completed, use pushhost runs start --wait.
            """)

    @Argument(help: "Id of the run, such as r-6, its number, or latest.")
    var id: String

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let id = try await client.ids.run(id)
            let run = try await client.get(ManagementClient.path("runs", id))
            return CommandResult(json: run) { RunReportLines(palette: $0).lines(run) }
        }
    }
}

struct RunsStartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Start a run of a flow.",
        discussion: """
            Example: pushhost runs start breaking-news --arg text="Hello" --wait

            Exit codes: 0 started, or with --wait completed · 1 with --wait, the run did not complete · 2 usage · 4 server error, or the \
            server is unreachable · 130 interrupted; the run continues.
            """)

    @Argument(help: "Name of the flow, as pushhost flows lists it.")
    var flow: String

    @OptionGroup
    var arguments: FlowArguments

    @Flag(help: "Wait for the run to end, then show it.")
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
                    return CommandResult(json: run) { ["\($0.green("✓")) started \(id.printable) of \(flow.printable)"] }
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
        commandName: "cancel", abstract: "Cancel a run. Notifications that it has sent stay sent.",
        discussion: "Example: pushhost runs cancel r-6")

    @Argument(help: "Id of the run, such as r-6, its number, or latest.")
    var id: String

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let id = try await client.ids.run(id)
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
        commandName: "rerun", abstract: "Repeat a run with the current script and the same arguments.",
        discussion: "Example: pushhost runs rerun r-6")

    @Argument(help: "Id of the run, such as r-6, its number, or latest.")
    var id: String

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let id = try await client.ids.run(id)
            let run = try await client.post(ManagementClient.path("runs", id, "rerun"), body: .object(JSONObject()))
            return CommandResult(json: run) {
                ["\($0.green("✓")) started \((run["runId"]?.string ?? "").printable), a rerun of \(id.printable)"]
            }
        }
    }
}
