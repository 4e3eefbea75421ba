import ArgumentParser
import PushCore

struct HubCredentialsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials",
        abstract: "Show, set, check and remove what a hub sends to the push services with.",
        discussion: "A hub without a credential of its own sends with that of the server's settings, where there is one.",
        subcommands: [
            CredentialsShowCommand.self, CredentialsSetCommand.self, CredentialsCheckCommand.self, CredentialsRemoveCommand.self,
        ])
}

/// Which hub of which server.
struct CredentialOptions: ParsableArguments {
    @Argument(help: "The hub; the only one if absent.")
    var hub: String?

    @OptionGroup
    var server: ServerOptions

    /// Does the work with the path of the hub's credentials, shows what came of it and ends the program.
    func run(
        _ work: (ManagementClient, _ hub: String, _ path: String) async throws(PushError) -> CommandResult
    ) async -> Never {
        await server.run { client throws(PushError) in
            let name = try await client.hub(hub)
            return try await work(client, name, ManagementClient.path("hubs", name, "credentials"))
        }
    }

    /// Gives the hub the credential that `body` describes.
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
        commandName: "show", abstract: "What a hub sends with, its own or of the server's settings; nothing secret.")

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
        abstract: "Ask the push services whether they take what a hub sends with; no device gets anything.",
        discussion: """
            APNs and FCM are sent a push for a device that cannot exist (FCM only validates it), WNS is asked for an access token. \
            The keys of Web Push are compared: which push service is asked, the subscriptions say.

            Exit codes: 0 all are good · 1 one is not.
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
        commandName: "remove", abstract: "Take a hub's own credential away; that of the server's settings takes its place.")

    @Argument(help: "The push service: apns, fcm, wns or webpush.", completion: .list(["apns", "fcm", "wns", "webpush"]))
    var platform: String

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup
    var options: CredentialOptions

    func run() async {
        let session = ManagementSession(isJSON: options.server.json)
        await options.run { client, hub, path throws(PushError) in
            guard let platform = Platform(name: platform), platform != .gcm else {
                throw PushError(
                    "usage.value", "there is no push service \"\(self.platform)\"", hint: "there are apns, fcm, wns and webpush")
            }
            try await session.confirm(
                "The hub \(hub) cannot send to \(platform.displayName) with its own credential any more.", isSaid: yes)
            try await client.delete("\(path)/\(platform.shortName)")
            return CommandResult(json: ["platform": .string(platform.shortName)]) {
                ["\($0.green("✓")) hub \(hub.printable) has no credential of its own for \(platform.displayName) any more"]
            }
        }
    }
}
