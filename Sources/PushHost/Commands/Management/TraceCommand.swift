import ArgumentParser
import HubWire
import PushCore

struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Why a phone shows a notification, or does not: its way, a line each, and one sentence.",
        discussion: """
            Without --device: how many devices ended how, with an example of each.

            Exit codes: 0 there is an explanation, whatever it is · 2 usage · 4 the server refuses: it does not know the notification \
            or the device.
            """)

    @Argument(help: "The notification's id, as send prints it.")
    var notification: String

    @Option(
        help: "The device: an installation, a registration, a handle or its beginning, a user with all of his devices, a simulated phone.")
    var device: String?

    @OptionGroup
    var target: HubOptions

    func validate() throws {
        if device?.isEmpty == true { throw ValidationError("--device \"\": name a device, or leave it out") }
    }

    func run() async {
        await target.run { client, hub throws(PushError) in
            let json = try await client.get(
                ManagementClient.path("hubs", hub, "notifications", notification, "trace"), [("device", device)])
            guard let answer = TraceAnswer(json) else {
                throw PushError(
                    "control.answer", "the answer is no trace: this is no PushHost, or another version",
                    details: [ManagementClient.fromServer: true])
            }
            return CommandResult(json: json) { TraceReport(palette: $0).lines(answer) }
        }
    }
}
