import ArgumentParser
import PushCore

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a notification through a server, and show what became of it.",
        discussion: """
            TEXT is the property "message" of a template notification: devices whose templates name it get it. To whom it goes \
            must be said: --to with a tag expression, --broadcast, or --channel with a broadcast channel of APNs.

            Exit codes: 0 every device was reached, or it is scheduled · 1 none of the devices was reached · 2 usage · 4 the server \
            refuses or does not answer · 5 it needs approval (pushhost approvals) · 6 nobody matches, with --fail-on-no-target · 7 some \
            devices were reached, and others failed or the send was stopped · 130 interrupted: what was accepted goes on.
            """)

    @Argument(help: "The text to send.")
    var text: String?

    @Option(help: ArgumentHelp("A tag expression, such as 'sports && !quiet'.", valueName: "tags"))
    var to: String?

    @Flag(help: "Send to every device of the hub.")
    var broadcast = false

    @Option(
        help: ArgumentHelp(
            "Send to a broadcast channel of APNs (pushhost apns channels) and no device, with --native apns FILE.", valueName: "id"))
    var channel: String?

    @Option(
        help: ArgumentHelp(
            "Send to the devices of a plan (pushhost plan) that are there still, and to nobody else; its content needs not be repeated.",
            valueName: "id"))
    var plan: String?

    @Option(
        help: ArgumentHelp(
            "With --plan: how many devices may have joined, left or changed since, such as 250 or 2%; none if absent.", valueName: "number")
    )
    var tolerance: String?

    @Option(help: ArgumentHelp("A property of the message; may be repeated.", valueName: "name=value"))
    var message: [String] = []

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Payloads as the push services take them: a platform and a file for each.", valueName: "platform file"),
        completion: .file())
    var native: [String] = []

    @Option(help: ArgumentHelp("When: a moment such as 2026-12-24T18:00:00Z, or a duration from now on.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("How fast it goes out at most, in devices: 200/s, 1000/m or 5000/h.", valueName: "pace"))
    var pace: String?

    @Option(help: ArgumentHelp("What it is for, shown to who may have to allow it.", valueName: "text"))
    var note: String?

    @Flag(help: "Reach ten devices at most, and try each once.")
    var test = false

    @Flag(help: "Show what each device would get, and send nothing.")
    var dryRun = false

    @Flag(help: "Do not ask before a broadcast.")
    var yes = false

    @Flag(help: "Exit with 6 when nobody matches.")
    var failOnNoTarget = false

    @Option(help: "The hub; the only one if absent.")
    var hub: String?

    @OptionGroup
    var server: ServerOptions

    func validate() throws {
        if plan != nil {
            guard to == nil, !broadcast, channel == nil else {
                throw ValidationError("--plan has its audience: leave out --to, --broadcast and --channel")
            }
            guard !dryRun, !test else {
                throw ValidationError(
                    "--plan sends to all of its devices: leave out --dry-run and --test; pushhost plan show tells who they are")
            }
            return
        }
        guard tolerance == nil else { throw ValidationError("--tolerance goes with --plan: leave it out, or name a plan") }
        guard broadcast || to != nil || channel != nil else {
            throw ValidationError("nobody is named to send to: give --to TAGS, or --broadcast for every device, or --plan ID")
        }
        guard channel == nil || !broadcast && to == nil else {
            throw ValidationError("--channel goes to no device: leave out --to and --broadcast")
        }
        guard channel == nil || !dryRun else {
            throw ValidationError("--dry-run shows devices, and a channel has none that a server knows")
        }
        guard !(broadcast && to != nil) else { throw ValidationError("--to and --broadcast exclude each other: keep one of them") }
        guard to.map({ !$0.allSatisfy(\.isWhitespace) }) ?? true else {
            throw ValidationError("--to is empty, which means nobody: give a tag expression, or --broadcast for every device")
        }
    }

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        if let plan { await send(to: plan, session) }
        await session.run { () throws(PushError) in
            let requests = try SendRequest.requests(
                text: text, message: message, native: native, tags: to, channel: channel, at: at, pace: pace, isTest: test,
                note: note, now: SystemClock().now)
            return try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let sender = Sender(client: client, hub: try await client.hub(hub), progress: session.progress)
                if dryRun { return try await preview(requests, sender) }
                if broadcast {
                    try await session.confirm("This goes to every device of the hub \(sender.hub).", isSaid: yes || test)
                }
                return try await send(requests, sender)
            }
        }
    }

    /// Sends to the devices of a plan and ends the program.
    private func send(to plan: String, _ session: ManagementSession) async -> Never {
        await session.run { () throws(PushError) in
            var body: JSONObject = ["audience": ["plan": .string(plan)]]
            if let tolerance { body.append("tolerance", .string(try DriftTolerance(usage: tolerance).description)) }
            try SendRequest.addContent(text: text, message: message, native: native, to: &body)
            try SendRequest.addOptions(at: at, pace: pace, now: SystemClock().now, to: &body)
            let request = JSON.object(body)
            return try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let sender = Sender(client: client, hub: try await client.hub(hub), progress: session.progress)
                let known = try? await client.get(ManagementClient.path("hubs", sender.hub, "plans", plan))
                let before = (known?["sentAs"]?.array ?? []).compactMap(\.string)
                if !before.isEmpty {
                    session.show { [$0.yellow("\(plan) was sent before, as \(before.joined(separator: ", ")): now it is sent once more")] }
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
        let reports = try await Interruption().cancelling { () throws(PushError) in try await sender.send(requests) }
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
    /// Throws `usage.value`.
    fileprivate init(usage text: String) throws(PushError) {
        do throws(PushError) {
            try self.init(text)
        } catch {
            throw PushError("usage.value", "--tolerance: \(error.message)", hint: error.hint)
        }
    }
}
