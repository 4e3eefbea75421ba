import ArgumentParser
import PushModel
import PushRuntime

struct HubCredentialsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials",
        abstract: "Show, set, check and remove the push credentials of a hub.",
        discussion: """
            A hub without its own credential uses the one in the server's settings, if there is one.

            Example: pushhost hub credentials check news
            """,
        subcommands: [
            CredentialsShowCommand.self, CredentialsSetCommand.self, CredentialsCheckCommand.self, CredentialsRemoveCommand.self,
        ])
}

/// Options that choose the server and the hub.
struct CredentialOptions: ParsableArguments {
    @Argument(help: "Name of the hub; may be left out if there is only one.")
    var hub: String?

    @OptionGroup
    var server: ServerOptions

    /// Does the work with the path of the hub's credentials, shows the result and ends the program.
    func run(
        _ work: (ManagementClient, _ hub: String, _ path: String) async throws(PushError) -> CommandResult
    ) async -> Never {
        await server.run { client throws(PushError) in
            let name = try await client.hubs.name(hub)
            return try await work(client, name, ManagementClient.path("hubs", name, "credentials"))
        }
    }

    /// Sets the hub's credential from the members that `body` returns.
    func set(_ platform: Platform, _ body: () async throws(PushError) -> [(String, String?)]) async -> Never {
        await set(platform) { _, _, _ throws(PushError) in try await body() }
    }

    func set(
        _ platform: Platform,
        _ body: (ManagementClient, _ hub: String, _ path: String) async throws(PushError) -> [(String, String?)]
    ) async -> Never {
        await run { client, hub, path throws(PushError) in
            let members = try await body(client, hub, path).compactMap { name, value in value.map { (name, JSON.string($0)) } }
            let credential = try await client.put("\(path)/\(platform.shortName)", body: .object(JSONObject(members)))
            return CommandResult(json: credential) { palette in
                ["\(palette.green("✓")) hub \(hub.printable) has a new credential"]
                    + (CredentialReport(credential)?.lines(palette) ?? []).map { "  \($0)" }
            }
        }
    }
}

struct CredentialsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a hub's push credentials, without secrets.",
        discussion: "Example: pushhost hub credentials show news")

    @OptionGroup
    var options: CredentialOptions

    func run() async {
        await options.run { client, _, path throws(PushError) in
            let items = try await client.allItems(path)
            return CommandResult(json: ["items": .array(items)]) { palette in
                items.isEmpty ? ["no credentials"] : items.flatMap { CredentialReport($0)?.lines(palette) ?? [] }
            }
        }
    }
}

struct CredentialsCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Test a hub's credentials with the push services. No device receives anything.",
        discussion: """
            Sends APNs and FCM a push for a device that cannot exist (FCM only validates it), and requests an access token from WNS. For \
            Web Push, only the keys are compared, because each subscription names its own push service.

            Example: pushhost hub credentials check news

            Exit codes: 0 all credentials are valid · 1 one is not.
            """)

    @OptionGroup
    var options: CredentialOptions

    func run() async {
        await options.run { client, _, path throws(PushError) in
            let items = try await client.post("\(path)/check", body: [:])["items"]?.array ?? []
            let report = CredentialCheckReport(items: items)
            return CommandResult(
                json: ["items": .array(items)], lines: { items.isEmpty ? ["no credentials"] : report.lines($0) },
                status: report.isGood ? ExitStatus.pass : ExitStatus.failed)
        }
    }
}

struct CredentialsRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a hub's own credential. The hub then uses the one in the server's settings.",
        discussion: "Example: pushhost hub credentials remove apns news")

    @Argument(help: "Push service: apns, fcm, wns or webpush.", completion: .list(["apns", "fcm", "wns", "webpush"]))
    var platform: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup
    var options: CredentialOptions

    func run() async {
        let session = ManagementSession(isJSON: options.server.json)
        await options.run { client, hub, path throws(PushError) in
            guard let platform = Platform(name: platform), platform != .gcm else {
                throw PushError(
                    "usage.value", "unknown push service \"\(self.platform)\"", hint: "use apns, fcm, wns or webpush")
            }
            try await session.confirm(
                "This removes the \(platform.displayName) credential of hub \"\(hub)\"", isPreconfirmed: yes)
            try await client.delete("\(path)/\(platform.shortName)")
            return CommandResult(json: ["platform": .string(platform.shortName)]) {
                ["\($0.green("✓")) removed the \(platform.displayName) credential of hub \(hub.printable)"]
            }
        }
    }
}
