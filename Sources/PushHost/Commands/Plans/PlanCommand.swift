import ArgumentParser
import Glibc
import PushCore

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Say exactly who would get a notification, and what; nothing is sent.",
        discussion: """
            pushhost plan --to TAGS [TEXT] asks a server, and keeps the plan there: pushhost send --plan ID sends to exactly its devices.
            pushhost plan FILE runs a flow so that each of its sends is planned instead; it takes the options of pushhost run, and those
            of the flow.
            """,
        subcommands: [PlanMakeCommand.self, PlanListCommand.self, PlanShowCommand.self, PlanFlowCommand.self],
        defaultSubcommand: PlanMakeCommand.self)
}

struct PlanMakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Say who would get a notification through a server, and what.",
        discussion: """
            Without a content it says whom the expression names. TEXT is the property "message" of a template notification.

            Exit codes: 0 done · 2 usage · 4 the server refuses or does not answer · 6 nobody would get it, with --fail-on-no-target.
            """)

    @Argument(help: "The text that would be sent.")
    var text: String?

    @Option(help: ArgumentHelp("A tag expression, such as 'sports && !quiet'.", valueName: "tags"))
    var to: String?

    @Flag(help: "Every device of the hub.")
    var broadcast = false

    @Option(help: ArgumentHelp("A property of the message; may be repeated.", valueName: "name=value"))
    var message: [String] = []

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Payloads as the push services take them: a platform and a file for each.", valueName: "platform file"),
        completion: .file())
    var native: [String] = []

    @Flag(help: "Also list every device.")
    var all = false

    @Flag(help: "Exit with 6 when nobody would get it.")
    var failOnNoTarget = false

    @OptionGroup
    var target: HubOptions

    func validate() throws {
        guard broadcast || to != nil else {
            throw ValidationError("nobody is named to plan for: give --to TAGS, or --broadcast for every device")
        }
        guard !(broadcast && to != nil) else { throw ValidationError("--to and --broadcast exclude each other: keep one of them") }
        guard to.map({ !$0.allSatisfy(\.isWhitespace) }) ?? true else {
            throw ValidationError("--to is empty, which means nobody: give a tag expression, or --broadcast for every device")
        }
    }

    func run() async {
        let session = ManagementSession(isJSON: target.server.json)
        await session.run { () throws(PushError) in
            var body = JSONObject()
            body.append("audience", to.map { ["tagExpression": .string($0)] } ?? ["broadcast": "everyone"])
            try SendRequest.addContent(text: text, message: message, native: native, to: &body)
            let request = JSON.object(body)
            return try await ManagementClient.with(try target.server.target()) { client throws(PushError) in
                let plans = PlanSession(client: client, hub: try await client.hub(target.hub))
                let plan = try await plans.make(request)
                return try await PlanShowing(session: session, plans: plans, all: all)
                    .result(plan, status: failOnNoTarget && plan.total == 0 ? ExitStatus.noTarget : ExitStatus.pass)
            }
        }
    }
}

struct PlanFlowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flow",
        abstract: "Run a flow so that each of its sends is planned: nothing is sent, and a hub on another machine stays as it is.")

    @Flag(help: "Also list the devices of each send, the first 1,000.")
    var all = false

    @OptionGroup
    var flow: RunCommand

    func run() async throws {
        guard !flow.watch else { throw ValidationError("--watch is for pushhost run: leave it out") }
        let session = FlowSession(command: flow, isPlanned: !flow.flowHelp, told: all ? PlanRequest.mostTold : 0)
        Glibc.exit(await session.run(Interruption()).status)
    }
}

struct PlanListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "The plans of a hub that are kept, newest first.")

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
        var table = TextTable("PLAN", "TO", "PLANNED", "BY", "KEPT UNTIL", "#DEVICES", "#DUPLICATES", "#REFUSED")
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
    static let configuration = CommandConfiguration(commandName: "show", abstract: "A plan as it was made.")

    @Argument(help: "Its id.")
    var id: String

    @Flag(help: "Also list every device, each as it is now.")
    var all = false

    @OptionGroup
    var target: HubOptions

    func run() async {
        let session = ManagementSession(isJSON: target.server.json)
        await session.run { () throws(PushError) in
            try await ManagementClient.with(try target.server.target()) { client throws(PushError) in
                let plans = PlanSession(client: client, hub: try await client.hub(target.hub))
                return try await PlanShowing(session: session, plans: plans, all: all).result(try await plans.plan(id))
            }
        }
    }
}

/// How a plan is shown, with its devices where they are asked for.
struct PlanShowing {
    let session: ManagementSession
    let plans: PlanSession
    let all: Bool

    func result(_ plan: PlanReport, status: Int32 = ExitStatus.pass) async throws(PushError) -> CommandResult {
        guard all, let id = plan.id else {
            return CommandResult(json: plan.document, lines: { PlanText(palette: $0).lines(plan) }, status: status)
        }
        guard session.isJSON else {
            // To people devices are told as they come.
            session.show { PlanText(palette: $0).lines(plan) + [$0.dim(PlanText.deviceTitle)] }
            try await plans.devices(of: id) { devices in session.show { _ in devices.map(PlanText.row) } }
            return CommandResult(json: .null, lines: { _ in [] }, status: status)
        }
        var devices: [JSON] = []
        try await plans.devices(of: id) { devices += $0.map(\.document) }
        var members = plan.document.object ?? JSONObject()
        members.append("devices", .array(devices))
        return CommandResult(json: .object(members), lines: { _ in [] }, status: status)
    }
}
