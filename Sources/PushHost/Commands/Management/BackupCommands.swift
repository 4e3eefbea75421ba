import ArgumentParser
import PushCore

struct HubBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy all hubs of a server, with their devices and keys, to one file.",
        discussion: """
            The copy is of one moment, also while the server works. Where no server runs on the data folder, it is taken \
            without one. Access keys and push credentials are sealed in it; the key file is not in it: keep a copy of that elsewhere.
            The copy of a database that an older version wrote is brought up to date and sealed, which needs the key file.

            Exit codes: 0 done · 1 the file cannot be written · 2 usage · 4 the server refuses.
            """)

    @Argument(help: "The file to make.", completion: .file())
    var file: String

    @OptionGroup
    var server: FolderOptions

    @Flag(help: "Replace the file if there is one.")
    var force = false

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            try await BackupFile(settings: try server.settings()).make(file, overwrites: force)
            return CommandResult(json: ["file": .string(file)]) { ["\($0.green("✓")) backed up to \(file.printable)"] }
        }
    }
}

struct HubRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of everything that a server keeps.",
        discussion: """
            A server that runs goes on with it: while it is exchanged, requests are answered with 503 and Retry-After. What the \
            backup had accepted and not delivered is delivered, again where it had been since. A file that is no backup, or a \
            broken one, changes nothing. Without a server, a database that is broken itself is replaced, too.

            A backup opens with the key file of the server that made it. Where that is lost, --renew-secrets goes on with new access \
            keys and without push credentials. Where the data folder records a key file that key.file has named, name the settings with \
            --config, or say --key-is-lost.

            Exit codes: 0 done · 1 the file lies in the data folder · 2 usage, or the file is no backup · 4 the server refuses.
            """)

    @Argument(help: "The backup.", completion: .file())
    var file: String

    @OptionGroup
    var server: FolderOptions

    @Flag(help: "Replace secrets of the backup that the key file does not open: new access keys, no push credentials.")
    var renewSecrets = false

    @Flag(help: "Without a server: go on without the key file that the data folder records and the settings do not name.")
    var keyIsLost = false

    @Flag(help: "Do not ask.")
    var yes = false

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            let settings = try server.settings()
            try await session.confirm(
                "Everything in \(settings.data) makes room for \(file), and what came after that backup is lost.", isSaid: yes)
            let (flaw, renewed) = try await BackupFile(settings: settings).restore(
                file, renewsSecrets: renewSecrets, isKeyLost: keyIsLost)
            let report = RenewedSecretsReport(json: renewed)
            return CommandResult(
                json: ["file": .string(file), "replaced": flaw.map { .string($0.message) } ?? .null, "renewed": report.json]
            ) {
                ["\($0.green("✓")) restored from \(file.printable)"] + (flaw.map { ["  before it, \($0.message)".printable] } ?? [])
                    + report.lines()
            }
        }
    }
}

/// Options of commands that need the data folder itself.
struct FolderOptions: ParsableArguments {
    @Option(help: "The data folder of the server.", completion: .directory)
    var data: String?

    @Option(help: "The server's file of settings, which tells its data folder.", completion: .file())
    var config: String?

    @Flag(help: "Print one JSON object (schema \(ManagementSession.schema)) instead of text.")
    var json = false

    func folder() throws(PushError) -> String { try settings().data }

    /// Of the server whose data folder is meant.
    func settings() throws(PushError) -> ServerSettings {
        if data == nil, config == nil { try ServerOptions.checkVariable(Environment.variables) }
        guard data != nil || config != nil || Environment.variables[ServerOptions.variable] == nil else {
            throw PushError(
                "usage.value", "\(ServerOptions.variable) names a server on the network, and this works on a data folder",
                hint: "name the folder with --data")
        }
        return try source.read().settings
    }

    var source: SettingsSource { SettingsSource(path: config, flags: data.map { ["data": $0] } ?? [:]) }
}
