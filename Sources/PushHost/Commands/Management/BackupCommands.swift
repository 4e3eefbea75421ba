import ArgumentParser
import PushModel
import PushRuntime
import PushServer

struct HubBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up all hubs, with their devices and keys, to one file.",
        discussion: """
            The backup is a consistent snapshot, even while the server runs; no server is needed. Access keys and push credentials in it \
            are encrypted with the key file, which is not included: back it up separately. If a database of an older version contains \
            them in clear text, they are encrypted in the backup, which needs the key file.

            Example: pushhost hub backup hubs.backup --data /var/lib/pushhost

            Exit codes: 0 done · 1 the file cannot be written · 2 usage · 4 server error.
            """)

    @Argument(help: "Backup file to create.", completion: .file())
    var file: String

    @OptionGroup
    var server: FolderOptions

    @Flag(help: "Replace the file if it exists.")
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
        abstract: "Replace all data of a server with a backup.",
        discussion: """
            A running server continues with the restored data; during the restoration it answers requests with 503 and Retry-After. \
            Notifications that were accepted but not delivered at the time of the backup are delivered, possibly a second time. A damaged \
            file, or one that is not a backup, changes nothing. Without a running server, even a damaged database is replaced.

            The key file must be that of the server that made the backup. If it is lost, --renew-secrets creates new access keys and \
            removes push credentials. If the data folder records a key file set with key.file, pass the settings with --config, or pass \
            --key-is-lost.

            Example: pushhost hub restore hubs.backup --data /var/lib/pushhost

            Exit codes: 0 done · 1 the file is in the data folder · 2 usage, or the file is not a backup · 4 server error.
            """)

    @Argument(help: "Backup file.", completion: .file())
    var file: String

    @OptionGroup
    var server: FolderOptions

    @Flag(help: "Replace secrets in the backup that cannot be decrypted with the key file: new access keys, no push credentials.")
    var renewSecrets = false

    @Flag(help: "Without a running server: continue although the recorded key file is lost and the settings do not name it.")
    var keyIsLost = false

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            let settings = try server.settings()
            let backup = BackupFile(settings: settings)
            try await backup.checkBackup(file)
            try await session.confirm(
                "This replaces all data in \(settings.data) with \(file)", "Changes since that backup are lost", isPreconfirmed: yes)
            let (flaw, renewed) = try await backup.restore(
                file, renewsSecrets: renewSecrets, isKeyLost: keyIsLost)
            let report = RenewedSecretsReport(json: renewed)
            return CommandResult(
                json: ["file": .string(file), "replaced": flaw.map { .string($0.message) } ?? .null, "renewed": report.json]
            ) {
                ["\($0.green("✓")) restored from \(file.printable)"] + (flaw.map { ["  old database: \($0.message)".printable] } ?? [])
                    + report.lines()
            }
        }
    }
}

/// Options of commands that work on a data folder on this machine.
struct FolderOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Data folder of the server.", valueName: "folder"), completion: .directory)
    var data: String?

    @Option(help: ArgumentHelp("Settings file of the server, which names its data folder.", valueName: "file"), completion: .file())
    var config: String?

    @Flag(help: "Print one JSON object (schema \(ManagementSession.schema)) instead of text.")
    var json = false

    func folder() throws(PushError) -> String { try settings().data }

    /// The settings of the server that uses the data folder.
    func settings() throws(PushError) -> ServerSettings {
        if data == nil, config == nil { try ServerOptions.checkVariable(Environment.variables) }
        guard data != nil || config != nil || Environment.variables[ServerOptions.variable] == nil else {
            throw PushError(
                "usage.value", "\(ServerOptions.variable) names a server on the network, but this command needs a data folder",
                hint: "name the folder with --data")
        }
        return try source.read().settings
    }

    var source: SettingsSource { SettingsSource(path: config, flags: data.map { ["data": $0] } ?? [:]) }
}
