import ArgumentParser
import PushCore

struct HubRenewSecretsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew-secrets",
        abstract: "Replace secrets that the key file does not open.",
        discussion: """
            For a server whose key file is lost. Access keys get new values under their names; push credentials, tokens and stored \
            values of plugins are removed. A key file that is missing is made. Devices, notifications and the audit log stay as they \
            are; secrets that open do, too. End the server first.

            The data folder records where a key file lies that key.file has named. Name the settings with --config then: without \
            them the command refuses, unless --key-is-lost says that this file is gone.

            Example: pushhost hub renew-secrets --data /var/lib/pushhost

            Exit codes: 0 done · 2 usage, or the server runs.
            """)

    @OptionGroup
    var server: FolderOptions

    @Flag(help: "Go on without the key file that the data folder records and the settings do not name.")
    var keyIsLost = false

    @Flag(help: "Do not ask.")
    var yes = false

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            let settings = try server.settings()
            try await session.confirm(
                "Secrets in \(settings.data) that the key file does not open are replaced, and clients need the new access keys.",
                isSaid: yes)
            let recovery = SecretRecovery(settings: settings, isKeyLost: keyIsLost)
            let report = RenewedSecretsReport(json: try await recovery.renew().json)
            return CommandResult(json: ["renewed": report.json]) { palette in
                report.isEmpty
                    ? ["\(palette.green("✓")) every secret opens; nothing was changed"]
                    : ["\(palette.green("✓")) secrets renewed"] + report.lines()
            }
        }
    }
}
