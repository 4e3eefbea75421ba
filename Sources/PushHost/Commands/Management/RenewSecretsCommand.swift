import ArgumentParser
import PushModel
import PushServer

struct HubRenewSecretsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew-secrets",
        abstract: "Replace secrets that cannot be decrypted with the key file.",
        discussion: """
            For a server whose key file is lost. Access keys keep their names and get new values; push credentials, tokens and stored \
            values of plugins are removed. A missing key file is created. Devices, notifications, the audit log and secrets that \
            can be decrypted stay unchanged. Stop the server first.

            If the data folder records a key file set with key.file, pass the settings with --config, or pass --key-is-lost.

            Example: pushhost hub renew-secrets --data /var/lib/pushhost

            Exit codes: 0 done · 2 usage, or the server is running.
            """)

    @OptionGroup
    var server: FolderOptions

    @Flag(help: "Continue although the recorded key file is lost and the settings do not name it.")
    var keyIsLost = false

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            let settings = try server.settings()
            try await session.confirm(
                "This replaces secrets in \(settings.data) that cannot be decrypted with the key file",
                "Clients then need the new access keys",
                isPreconfirmed: yes)
            let recovery = SecretRecovery(settings: settings, isKeyLost: keyIsLost)
            let report = RenewedSecretsReport(json: RenewedSecretsDocument(try await recovery.renew()).json)
            return CommandResult(json: ["renewed": report.json]) { palette in
                report.isEmpty
                    ? ["\(palette.green("✓")) all secrets can be decrypted with the key file; nothing was changed"]
                    : ["\(palette.green("✓")) secrets renewed"] + report.lines()
            }
        }
    }
}
