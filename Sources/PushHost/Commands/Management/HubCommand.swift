import ArgumentParser
import PushHub
import PushModel
import PushRuntime

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub", abstract: "Manage hubs and their push credentials; back up and restore all data.",
        discussion: "Example: pushhost hub create news",
        subcommands: [
            HubListCommand.self, HubShowCommand.self, HubCreateCommand.self, HubDeleteCommand.self, HubCredentialsCommand.self,
            HubBackupCommand.self, HubRestoreCommand.self, HubRenewSecretsCommand.self,
        ])
}

struct HubListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all hubs, or only the hub of the connection string.",
        discussion: "Example: pushhost hub list")

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let hubs = try await client.hubs.all()
            return CommandResult(json: ["items": .array(hubs)], lines: HubReport.table(hubs).lines)
        }
    }
}

struct HubShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a hub: its size, push credentials and issues.", discussion: "Example: pushhost hub show news")

    @Argument(help: "Name of the hub; may be left out if there is only one.")
    var name: String?

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let hub = try await client.get(ManagementClient.path("hubs", try await client.hubs.name(name)))
            return CommandResult(json: hub) { Self.lines(hub, $0) }
        }
    }

    private static func lines(_ hub: JSON, _ palette: Palette) -> [String] {
        let services = hub.words("pushServices")
        var rows = [
            ("registrations", hub.number("registrations")), ("installations", hub.number("installations")),
            ("pending notifications", hub.number("waiting")), ("push services", services.isEmpty ? "no credentials" : services),
            ("created", hub["createdAt"]?.string ?? ""), ("changed", hub["updatedAt"]?.string ?? ""),
        ]
        let credentials = hub["credentials"]?.array ?? []
        for credential in credentials { rows.append(("credential", CredentialReport(credential)?.line ?? "unknown kind")) }
        if let ttl = hub["registrationTTL"]?.string { rows.append(("registration TTL", ttl)) }
        if let metadata = hub["userMetadata"]?.string { rows.append(("metadata", metadata)) }
        for issue in HubReport.issues(of: hub) { rows.append(("issue", issue)) }
        return [palette.bold("hub \(hub["name"]?.string ?? "")".printable)] + rows.map { "  \($0.0.padded(to: 24))\($0.1.printable)" }
    }
}

struct HubCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a hub and show its keys as connection strings.",
        discussion: "Example: pushhost hub create news --registration-ttl P90D")

    @Argument(help: "Name of the new hub.")
    var name: String

    @Option(
        help: ArgumentHelp("Time after its last update when a registration expires, such as P90D. (default: never)", valueName: "period"))
    var registrationTTL: String?

    @Option(help: ArgumentHelp("Text to store with the hub.", valueName: "text"))
    var metadata: String?

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            try HubValidator.check(name)
            var body = JSONObject([("name", .string(name))])
            body["registrationTTL"] = registrationTTL.map(JSON.string)
            body["userMetadata"] = metadata.map(JSON.string)
            return try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let hub = try await client.post(ManagementClient.path("hubs"), body: .object(body))
                let keys = try await client.allItems(ManagementClient.path("hubs", name, "keys"), [("reveal", "true")])
                let report = KeyReport(keys: keys, url: await client.clientURL())
                return CommandResult(json: ["hub": hub, "keys": .array(keys)]) {
                    ["\($0.green("✓")) hub \(name.printable) created"] + report.revealed($0)
                }
            }
        }
    }
}

struct HubDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a hub with all its data.", discussion: "Example: pushhost hub delete news")

    @Argument(help: "Name of the hub.")
    var name: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup
    var server: ServerOptions

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let path = ManagementClient.path("hubs", name)
                let hub = try await client.get(path)
                try await session.confirm(
                    "This deletes hub \"\(name)\" with its keys and \(hub.number("registrations")) registrations", isPreconfirmed: yes)
                try await client.delete(path)
                return CommandResult(json: ["name": .string(name)]) { ["\($0.green("✓")) hub \(name.printable) deleted"] }
            }
        }
    }
}

extension JSON {
    /// The member `name` as text; "0" if it is absent.
    func number(_ name: String) -> String { String(self[name]?.int ?? 0) }

    /// The strings of a list, joined by commas.
    func words(_ name: String) -> String { self[name]?.array?.compactMap(\.string).joined(separator: ", ") ?? "" }
}
