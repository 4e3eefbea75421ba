import ArgumentParser
import HubWire
import PushModel

struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Explain why a device did or did not show a notification.",
        discussion: """
            Without --device, shows the number of devices for each result, with an example of each.

            Example: pushhost trace 1fe4b9 --device alice

            Exit codes: 0 explained · 2 usage · 4 server error, for example an unknown notification or device.
            """)

    @Argument(help: "Id of the notification or its beginning.")
    var notification = IDResolver.latest

    @Option(
        help: ArgumentHelp(
            "Device: an installation, a registration, a handle or its beginning, a user (all devices), or a simulated phone.",
            valueName: "id"))
    var device: String?

    @OptionGroup
    var target: HubOptions

    func validate() throws {
        if device?.isEmpty == true { throw ValidationError.usage("--device is empty", hint: "name a device, or remove --device") }
    }

    func run() async {
        await target.run { client, hub throws(PushError) in
            let notification = try await client.ids.notification(notification, hub: hub)
            let json = try await client.get(
                ManagementClient.path("hubs", hub, "notifications", notification, "trace"), [("device", device)])
            guard let answer = TraceJSON.answer(json) else {
                throw PushError(
                    "control.answer", "the answer is not a trace: the server is not PushHost, or has another version",
                    details: [ManagementClient.fromServer: true])
            }
            return CommandResult(json: json) { TraceReport(palette: $0).lines(answer) }
        }
    }
}
