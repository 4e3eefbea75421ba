import ArgumentParser
import PushCore

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Show, make, rotate and revoke the keys to a hub, or to the whole server.",
        discussion: "With --hub, or a connection string for a hub, the keys of that hub are meant, without it those that open every hub.",
        subcommands: [KeyListCommand.self, KeyCreateCommand.self, KeyRotateCommand.self, KeyRevokeCommand.self])
}

/// Whose keys are meant.
struct KeyOptions: ParsableArguments {
    @Option(help: "The hub whose keys are meant; that of the connection string, or else the whole server, if absent.")
    var hub: String?

    @OptionGroup
    var server: ServerOptions

    /// The path of a key or of all, and with which words it is asked for.
    func path(_ target: ManagementTarget, _ more: String...) -> String {
        let start = meant(target).map { ManagementClient.path("hubs", $0, "keys") } ?? ManagementClient.path("keys")
        return more.reduce(start) { "\($0)/\(ManagementClient.encoded($1))" }
    }

    private func meant(_ target: ManagementTarget) -> String? { hub ?? target.hub }

    /// For people.
    func owner(_ target: ManagementTarget) -> String { meant(target).map { "of the hub \($0)" } ?? "to all hubs" }

    /// Shows a key that has just come about: never again without being asked.
    func result(
        _ key: JSON, _ done: String, _ client: ManagementClient, _ places: [String] = ["primary", "secondary"]
    ) async -> CommandResult {
        let report = KeyReport(keys: [key], url: await client.clientURL())
        let said = "\(done), \(owner(client.target))".printable
        return CommandResult(json: key) { ["\($0.green("✓")) \(said)"] + report.revealed($0, places) }
    }
}

struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "All keys, without their values.")

    @Flag(help: "Show the values, as connection strings.")
    var reveal = false

    @OptionGroup
    var options: KeyOptions

    func run() async {
        await options.server.run { client throws(PushError) in
            let keys = try await client.allItems(options.path(client.target), [("reveal", reveal ? "true" : nil)])
            let report = KeyReport(keys: keys, url: await client.clientURL())
            return CommandResult(json: ["items": .array(keys)]) { reveal ? report.revealed($0) : report.table($0) }
        }
    }
}

struct KeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Make a key, and show it.")

    @Argument(help: "Its name.")
    var name: String

    @Option(help: "What it may do, separated by commas: listen, send, manage.", completion: .list(["listen", "send", "manage"]))
    var rights: String

    @Option(
        help: ArgumentHelp("Most devices that one send may reach without somebody else's leave; not with manage.", valueName: "devices"))
    var ceiling: Int?

    @OptionGroup
    var options: KeyOptions

    func validate() throws {
        guard let ceiling, ceiling < 1 else { return }
        throw ValidationError("--ceiling \(ceiling): give a number from 1 on")
    }

    func run() async {
        await ManagementSession(isJSON: options.server.json).run { () throws(PushError) in
            let rights = try Self.rights(rights)
            return try await ManagementClient.with(try options.server.target()) { client throws(PushError) in
                var body: JSONObject = ["name": .string(name), "rights": .array(rights.map { .string($0.rawValue) })]
                body["ceiling"] = ceiling.map { .integer(Int64($0)) }
                let key = try await client.post(options.path(client.target), body: .object(body))
                return await options.result(key, "key \(name) created", client)
            }
        }
    }

    private static func rights(_ text: String) throws(PushError) -> [AuthorizationRule.Right] {
        var rights: [AuthorizationRule.Right] = []
        for word in text.split(separator: ",") {
            let word = word.drop { $0 == " " }.lowercased()
            guard let right = AuthorizationRule.Right.allCases.first(where: { $0.rawValue.lowercased() == word }) else {
                throw PushError("usage.value", "--rights: \"\(word)\" is no right", hint: "the rights are listen, send, manage")
            }
            rights.append(right)
        }
        return rights
    }
}

struct KeyRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give a key a new value, and show it.",
        discussion: """
            A key has two values, and both open. Rotate the one that no client uses, move the clients to it, then rotate the \
            other. The old value opens nothing from that moment on.
            """)

    enum Place: String, EnumerableFlag { case primary, secondary }

    @Argument(help: "Its name.")
    var name: String

    @Flag(help: "Which of its values.")
    var place: Place

    @OptionGroup
    var options: KeyOptions

    func run() async {
        await options.server.run { client throws(PushError) in
            let key = try await client.post(options.path(client.target, name, "rotate"), body: ["key": .string(place.rawValue)])
            return await options.result(key, "the \(place.rawValue) value of \(name) is new", client, [place.rawValue])
        }
    }
}

struct KeyRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Take a key away; it opens nothing from that moment on.")

    @Argument(help: "Its name.")
    var name: String

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup
    var options: KeyOptions

    func run() async {
        let session = ManagementSession(isJSON: options.server.json)
        await session.run { () throws(PushError) in
            let target = try options.server.target()
            try await session.confirm("The key \(name) \(options.owner(target)) goes, and whoever uses it is shut out.", isSaid: yes)
            return try await ManagementClient.with(target) { client throws(PushError) in
                try await client.delete(options.path(client.target, name))
                return CommandResult(json: ["name": .string(name)]) { ["\($0.green("✓")) key \(name.printable) revoked"] }
            }
        }
    }
}
