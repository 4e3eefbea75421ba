import ArgumentParser
import PushBackend
import PushModel
import PushRuntime

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Manage the user accounts of the app backend.",
        discussion: """
            Names are not case-sensitive. Passwords are read from the terminal without echo, or from standard input with \
            --password-stdin, never from arguments, which other users can see.

            Example: pushhost user add alice
            """,
        subcommands: [UserAddCommand.self, UserPasswordCommand.self, UserListCommand.self, UserRemoveCommand.self])
}

/// Options that choose where a password is read from.
struct PasswordOptions: ParsableArguments {
    @Flag(help: "Read the password from standard input, one line, instead of the terminal.")
    var passwordStdin = false

    /// Reads the password. Throws `usage.password`.
    func read(for name: String) async throws(PushError) -> Secret {
        try await passwordStdin ? PasswordPrompt.line() : PasswordPrompt().ask(for: name)
    }
}

struct UserAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Create an account.", discussion: "Example: pushhost user add alice")

    @Argument(help: "User name: letters, digits and - _ @ # .")
    var name: String

    @OptionGroup
    var password: PasswordOptions

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            let target = try server.target()
            try AccountService.check(username: name)
            let secret = try await password.read(for: name)
            return try await ManagementClient.with(target) { client throws(PushError) in
                let user = try await client.post(
                    ManagementClient.path("users"), body: ["username": .string(name), "password": .string(secret.reveal())])
                return CommandResult(json: user) { ["\($0.green("✓")) user \(name.printable) added"] }
            }
        }
    }
}

struct UserPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passwd", abstract: "Set a new password for a user and end the user's sessions.",
        discussion: "Example: pushhost user passwd alice")

    @Argument(help: "User name, as pushhost user list shows it.")
    var name: String

    @OptionGroup
    var password: PasswordOptions

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            let target = try server.target()
            let secret = try await password.read(for: name)
            return try await ManagementClient.with(target) { client throws(PushError) in
                try await client.put(ManagementClient.path("users", name, "password"), body: ["password": .string(secret.reveal())])
                return CommandResult(json: ["username": .string(name)]) {
                    ["\($0.green("✓")) changed the password of \(name.printable)"]
                }
            }
        }
    }
}

struct UserListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List users by name.", discussion: "Example: pushhost user list")

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let users = try await client.items(ManagementClient.path("users"), first: nil).items
            return CommandResult(json: ["items": .array(users)]) { palette in
                guard !users.isEmpty else { return ["no users"] }
                var table = TextTable("USER")
                for user in users { table.add(user["username"]?.string ?? "") }
                return table.lines(palette)
            }
        }
    }
}

struct UserRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove an account with its sessions and secure payloads. Registered devices stay.",
        discussion: "Example: pushhost user remove alice")

    @Argument(help: "User name, as pushhost user list shows it.")
    var name: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup
    var server: ServerOptions

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            let target = try server.target()
            try await session.confirm(
                "This removes user \(name), with all secure payloads from or to \(name)", isPreconfirmed: yes)
            return try await ManagementClient.with(target) { client throws(PushError) in
                try await client.delete(ManagementClient.path("users", name))
                return CommandResult(json: ["username": .string(name)]) { ["\($0.green("✓")) user \(name.printable) removed"] }
            }
        }
    }
}
