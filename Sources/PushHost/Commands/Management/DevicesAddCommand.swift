import ArgumentParser
import HubWire
import NIOHTTP1
import PushModel
import PushRuntime

struct DevicesAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a device to a hub by its token.",
        discussion: """
            The device gets a template that shows the text of pushhost send. An existing device is replaced only with --replace.

            Example: pushhost devices add ana-1 --platform fcm --token TOKEN --user ana --tag sports

            Exit codes: 0 added · 2 usage, for example an invalid token, or the device exists · 4 server error, or the server is \
            unreachable.
            """)

    @Argument(help: "Id of the installation; by default it follows from platform and token.")
    var id: String?

    @Option(
        help: ArgumentHelp("Push service of the token. (values: \(Platform.spellings.joined(separator: ", ")))", valueName: "name"),
        completion: .list(Platform.spellings))
    var platform: String

    @Option(help: ArgumentHelp("Token, channel URI or, for browser, PushSubscription as JSON.", valueName: "text"))
    var token: String

    @Option(help: ArgumentHelp("User of the device.", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("Tag of the device; may be repeated.", valueName: "name"))
    var tag: [String] = []

    @Flag(help: "Add no template: the device then receives only native payloads.")
    var noTemplate = false

    @Flag(help: "Replace an existing device with this id.")
    var replace = false

    @OptionGroup
    var target: HubOptions

    private var device: DeviceDescription {
        DeviceDescription(id: id, platform: platform, token: token, user: user, tags: tag, hasTextTemplate: !noTemplate)
    }

    func validate() throws {
        guard id?.isEmpty != true else {
            throw ValidationError.usage("the id is empty", hint: "write an id, or leave it out for one that follows from the token")
        }
    }

    func run() async {
        await target.run { client, hub throws(PushError) in
            let installation = try device.installation()
            let exists = try await exists(installation.id, hub, client)
            guard !exists || replace else {
                throw PushError(
                    "usage.value", "hub \"\(hub)\" has a device \(installation.id); not changed",
                    hint: "pass --replace to replace it, or choose another id")
            }
            _ = try await client.exchange(
                .PUT, ManagementClient.path(ofHub: hub, "installations", installation.id), [("api-version", "2020-06")],
                ["Content-Type": InstallationJSON.contentType], InstallationJSON.document(installation))
            return CommandResult(json: ["installationId": .string(installation.id), "isReplaced": .bool(exists)]) { palette in
                let done = exists ? "replaced in" : "added to"
                return ["\(palette.green("✓")) device \(installation.id.printable) \(done) hub \"\(hub.printable)\""]
            }
        }
    }

    private func exists(_ id: String, _ hub: String, _ client: ManagementClient) async throws(PushError) -> Bool {
        do throws(PushError) {
            _ = try await client.get(ManagementClient.path("hubs", hub, "installations", id))
            return true
        } catch  where error.code == "hub.not_found" {
            return false
        }
    }
}
