import ArgumentParser
import Bindings
import Glibc
import PushModel

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show exactly which devices would receive a notification, and its content for each. Sends nothing.",
        discussion: """
            pushhost plan --to TAGS [TEXT] makes a plan on a server and stores it; pushhost send --plan ID sends to exactly its devices.
            pushhost plan FILE runs a flow and plans each of its sends instead; it accepts the options of pushhost run and of the flow.

            Example: pushhost plan "We are back at noon" --to 'sports && !quiet'
            """,
        subcommands: [PlanMakeCommand.self, PlanListCommand.self, PlanShowCommand.self, PlanFlowCommand.self],
        defaultSubcommand: PlanMakeCommand.self)
}

struct PlanMakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Make a plan on a server: which devices would receive a notification, and its content for each.",
        discussion: """
            Without content, the plan has the devices that match the tag expression. TEXT is the property "message" of a template \
            notification.

            Example: pushhost plan make "We are back at noon" --to sports --all

            Exit codes: 0 done · 2 usage · 4 server error, or the server is unreachable · 6 no recipients, with --fail-on-no-target.
            """)

    @OptionGroup
    var audience: AudienceOptions

    @Flag(help: "Plan for every device of the hub.")
    var broadcast = false

    @OptionGroup
    var content: ContentOptions

    @Flag(help: "Also list every device.")
    var all = false

    @Flag(help: "Exit with 6 if there are no recipients.")
    var failOnNoTarget = false

    @OptionGroup
    var target: HubOptions

    func validate() throws {
        guard broadcast || audience.to != nil else {
            throw ValidationError.usage("no recipients", hint: "use --to TAGS or --broadcast")
        }
        try audience.check(broadcast: broadcast)
    }

    func run() async {
        let session = ManagementSession(isJSON: target.server.json)
        await session.run { () throws(PushError) in
            var body = JSONObject()
            body.append("audience", audience.to.map { ["tagExpression": .string($0)] } ?? ["broadcast": "everyone"])
            try SendRequest.addContent(content, to: &body)
            let request = JSON.object(body)
            return try await ManagementClient.with(try target.server.target()) { client throws(PushError) in
                let plans = PlanSession(client: client, hub: try await client.hubs.name(target.hub))
                let plan = try await plans.make(request)
                return try await PlanDisplay(session: session, plans: plans, all: all)
                    .result(plan, status: failOnNoTarget && plan.total == 0 ? ExitStatus.noTarget : ExitStatus.pass)
            }
        }
    }
}

struct PlanFlowCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "flow",
        abstract: "Run a flow and plan each of its sends. Sends nothing, and does not change a hub on another machine.",
        discussion: "Example: pushhost plan scripts/notify_users.lua --user alice")

    @Flag(help: "Also list the devices of each send, up to 1,000.")
    var all = false

    @OptionGroup
    var flow: RunCommand

    func run(in program: HostProgram) async throws {
        guard !flow.watch else { throw PushError("usage.value", "--watch works only with pushhost run", hint: "remove --watch") }
        let session = FlowSession(
            command: flow, program: program, isPlanned: !flow.flowHelp, deviceLimit: all ? PlanRequest.maximumDevices : 0)
        Glibc.exit(await session.run(Interruption()).status)
    }
}

struct PlanListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the stored plans of a hub, newest first.", discussion: "Example: pushhost plan list")

    @OptionGroup
    var list: ListOptions

    @OptionGroup
    var target: HubOptions

    func run() async {
        await target.run { client, hub throws(PushError) in
            let (plans, hasMore) = try await client.items(ManagementClient.path("hubs", hub, "plans"), first: list.limit)
            return CommandResult(json: ["items": .array(plans), "hasMore": .bool(hasMore)]) { palette in
                plans.isEmpty ? ["no plans"] : Self.table(plans).lines(palette) + list.more(hasMore, palette)
            }
        }
    }

    private static func table(_ plans: [JSON]) -> TextTable {
        var table = TextTable("PLAN", "TO", "PLANNED", "BY", "EXPIRES", "#DEVICES", "#DUPLICATES", "#REJECTED")
        for plan in plans {
            table.add(
                plan["planId"]?.string ?? "", plan["audience"]?["tagExpression"]?.string ?? "everyone", plan["plannedAt"]?.string ?? "",
                plan["plannedBy"]?.string ?? "", plan["expiresAt"]?.string ?? "", plan.number("total"), plan.number("duplicates"),
                plan.number("refused"))
        }
        return table
    }
}

struct PlanShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a stored plan.", discussion: "Example: pushhost plan show p-0003 --all")

    @Argument(help: "Id of the plan, such as p-0003, its number, or latest.")
    var id: String

    @Flag(help: "Also list every device, in its current state.")
    var all = false

    @OptionGroup
    var target: HubOptions

    func run() async {
        let session = ManagementSession(isJSON: target.server.json)
        await session.run { () throws(PushError) in
            try await ManagementClient.with(try target.server.target()) { client throws(PushError) in
                let plans = PlanSession(client: client, hub: try await client.hubs.name(target.hub))
                return try await PlanDisplay(session: session, plans: plans, all: all).result(
                    try await plans.plan(try await client.ids.plan(id, hub: plans.hub)))
            }
        }
    }
}

/// Shows a plan, with its devices if `all` is set.
struct PlanDisplay {
    let session: ManagementSession
    let plans: PlanSession
    let all: Bool

    func result(_ plan: PlanReport, status: Int32 = ExitStatus.pass) async throws(PushError) -> CommandResult {
        guard all, let id = plan.id else {
            return CommandResult(json: PlanReportDocument(plan).json, lines: { PlanText(palette: $0).lines(plan) }, status: status)
        }
        guard session.isJSON else {
            // As text, devices are printed page by page as they arrive.
            session.show { PlanText(palette: $0).lines(plan) + [$0.dim(PlanText.deviceTitle)] }
            try await plans.devices(of: id) { devices in session.show { _ in devices.map(PlanText.row) } }
            return CommandResult(json: .null, lines: { _ in [] }, status: status)
        }
        var devices: [JSON] = []
        try await plans.devices(of: id) { devices += $0.map(\.document) }
        var members = PlanReportDocument(plan).json.object ?? JSONObject()
        members.append("devices", .array(devices))
        return CommandResult(json: .object(members), lines: { _ in [] }, status: status)
    }
}
