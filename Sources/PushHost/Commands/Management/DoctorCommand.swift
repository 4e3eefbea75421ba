import ArgumentParser
import PushModel

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the setup of a server, running or not.",
        discussion: """
            Checks the settings, data folder, database, certificate, credentials, ports, connections to the push services and the clock. \
            Changes nothing.

            Example: pushhost doctor --data /var/lib/pushhost

            Exit codes: 0 all checks pass · 1 a check fails.
            """)

    @OptionGroup
    var options: FolderOptions

    func run() async {
        let session = ManagementSession(isJSON: options.json)
        await session.run { () throws(PushError) in
            let checks = await Doctor(source: options.source).examine { check in session.show { check.lines($0) } }
            let isWell = checks.allSatisfy(\.isWell)
            return CommandResult(
                json: ["checks": .array(checks.map(\.json))], lines: { _ in [] },
                status: isWell ? ExitStatus.pass : ExitStatus.failed)
        }
    }
}
