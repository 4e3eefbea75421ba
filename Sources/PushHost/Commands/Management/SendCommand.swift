import ArgumentParser
import PushModel
import PushRuntime

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a notification through a server and show its results.",
        discussion: """
            TEXT is the property "message" of a template notification; devices whose templates use it receive it. The recipients are \
            required: --to with a tag expression, --broadcast, --plan, or --channel with an APNs broadcast channel.

            Example: pushhost send "We are back at noon" --to 'sports && !quiet'

            Exit codes: 0 all devices reached, or scheduled · 1 no device reached · 2 usage · 4 server error, or the server is unreachable \
            · 5 approval required (pushhost approvals) · 6 no recipients, with --fail-on-no-target · 7 some devices reached, and others \
            failed or the send was stopped · 130 interrupted; accepted notifications are still sent.
            """)

    @OptionGroup
    var audience: AudienceOptions

    @Flag(help: "Send to every device of the hub.")
    var broadcast = false

    @Option(
        help: ArgumentHelp(
            "Send to an APNs broadcast channel (pushhost apns channels) instead of devices, with --native apns FILE.", valueName: "id"))
    var channel: String?

    @Option(
        help: ArgumentHelp(
            "Send to the devices of a plan (pushhost plan) that still exist: its id, its number, or latest. The content may be left out; "
                + "it is part of the plan.",
            valueName: "id"))
    var plan: String?

    @Option(
        help: ArgumentHelp(
            "With --plan: maximum number of devices that may have been added, removed or changed since the plan was made, such as 250 "
                + "or 2%. (default: 0)",
            valueName: "count|%"))
    var tolerance: String?

    @OptionGroup
    var content: ContentOptions

    @Option(help: ArgumentHelp("Time to send, such as 2026-12-24T18:00:00Z, or a duration from now such as 90m.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("Maximum number of devices per time: 200/s, 1000/m or 5000/h.", valueName: "rate"))
    var pace: String?

    @Option(help: ArgumentHelp("Purpose, shown to approvers.", valueName: "text"))
    var note: String?

    @Flag(help: "Send to at most ten devices, with one attempt each.")
    var test = false

    @Flag(help: "Show what each device would receive, and send nothing.")
    var dryRun = false

    @Flag(help: "Do not ask for confirmation of a broadcast.")
    var yes = false

    @Flag(help: "Exit with 6 if there are no recipients.")
    var failOnNoTarget = false

    @Option(help: ArgumentHelp("Name of the hub; may be left out if there is only one.", valueName: "name"))
    var hub: String?

    @OptionGroup
    var server: ServerOptions

    func validate() throws {
        if plan != nil {
            guard audience.to == nil, !broadcast, channel == nil else {
                throw ValidationError.usage(
                    "--plan cannot be combined with --to, --broadcast or --channel", hint: "remove them; the plan selects the recipients")
            }
            guard !dryRun, !test else {
                throw ValidationError.usage(
                    "--plan cannot be combined with --dry-run or --test", hint: "remove them; pushhost plan show lists the devices")
            }
            return
        }
        guard tolerance == nil else { throw ValidationError.usage("--tolerance needs --plan", hint: "add --plan, or remove --tolerance") }
        guard broadcast || audience.to != nil || channel != nil else {
            throw ValidationError.usage("no recipients", hint: "use --to TAGS, --broadcast, --plan ID or --channel ID")
        }
        guard channel == nil || !broadcast && audience.to == nil else {
            throw ValidationError.usage("--channel cannot be combined with --to or --broadcast", hint: "remove one of them")
        }
        guard channel == nil || !dryRun else {
            throw ValidationError.usage(
                "--dry-run and --channel cannot be combined", hint: "the server does not know the devices of a channel")
        }
        try audience.check(broadcast: broadcast)
    }

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        if let plan { await send(to: plan, session) }
        await session.run { () throws(PushError) in
            let requests = try SendRequest.requests(
                of: content, tags: audience.to, channel: channel, at: at, pace: pace, isTest: test, note: note, now: SystemClock().now)
            return try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let sender = Sender(client: client, hub: try await client.hubs.name(hub), progress: session.progress)
                if dryRun { return try await preview(requests, sender) }
                if broadcast {
                    try await session.confirm("This sends to every device of hub \"\(sender.hub)\"", isPreconfirmed: yes || test)
                }
                return try await send(requests, sender)
            }
        }
    }

    /// Sends to the devices of a plan and ends the program.
    private func send(to plan: String, _ session: ManagementSession) async -> Never {
        await session.run { () throws(PushError) in
            var body = JSONObject()
            if let tolerance { body.append("tolerance", .string(try DriftTolerance(usage: tolerance).description)) }
            try SendRequest.addContent(content, to: &body)
            try SendRequest.addOptions(at: at, pace: pace, now: SystemClock().now, to: &body)
            let options = body
            return try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let sender = Sender(client: client, hub: try await client.hubs.name(hub), progress: session.progress)
                let plan = try await client.ids.plan(plan, hub: sender.hub)
                var body: JSONObject = ["audience": ["plan": .string(plan)]]
                for (name, value) in options.members { body.append(name, value) }
                let request = JSON.object(body)
                let known = try? await client.get(ManagementClient.path("hubs", sender.hub, "plans", plan))
                let before = (known?["sentAs"]?.array ?? []).compactMap(\.string)
                if !before.isEmpty {
                    session.show { [$0.yellow("\(plan) has already been sent as \(before.joined(separator: ", ")); sending it again")] }
                }
                let report = try await Interruption().cancelling { () throws(PushError) in try await sender.send(request) }
                return CommandResult(
                    json: ["items": .array([report.json])], lines: { SendReport(palette: $0).lines(report) }, status: status([report]))
            }
        }
    }

    private func preview(_ requests: [SendRequest], _ sender: Sender) async throws(PushError) -> CommandResult {
        var previews: [JSON] = []
        for request in requests { previews.append(try await sender.preview(request)) }
        let isWithoutTarget = previews.allSatisfy { $0["matched"]?.int == 0 }
        let shown = previews
        return CommandResult(
            json: ["items": .array(shown)], lines: { palette in shown.flatMap { SendReport(palette: palette).lines(preview: $0) } },
            status: failOnNoTarget && isWithoutTarget ? ExitStatus.noTarget : ExitStatus.pass)
    }

    private func send(_ requests: [SendRequest], _ sender: Sender) async throws(PushError) -> CommandResult {
        var sent = try await Interruption().cancelling { () throws(PushError) in try await sender.send(requests) }
        for index in sent.indices { sent[index].channel = channel }
        let reports = sent
        return CommandResult(
            json: ["items": .array(reports.map(\.json))],
            lines: { palette in reports.flatMap { SendReport(palette: palette).lines($0) } },
            status: status(reports))
    }

    private func status(_ reports: [Sender.Report]) -> Int32 {
        if reports.allSatisfy(\.isWithoutTarget) { return failOnNoTarget ? ExitStatus.noTarget : ExitStatus.pass }
        let counts = reports.map { OutcomeCounts($0.notification) }
        let isLost = counts.contains { $0.all > 0 } && counts.allSatisfy { $0.sent == 0 }
        if isLost { return ExitStatus.failed }
        let isStopped = reports.contains { $0.state == NotificationOutcome.State.canceled.rawValue }
        return isStopped || counts.contains { $0.failed > 0 } ? ExitStatus.partial : ExitStatus.pass
    }
}

extension DriftTolerance {
    /// Parses the value of `--tolerance`. Throws `usage.value`.
    fileprivate init(usage text: String) throws(PushError) {
        do throws(PushError) {
            try self.init(text)
        } catch {
            throw PushError("usage.value", "--tolerance: \(error.message)", hint: error.hint)
        }
    }
}
