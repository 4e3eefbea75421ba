import ArgumentParser
import PushCore

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look for what is wrong with a server, whether it runs or not.",
        discussion: """
            Changes nothing: settings, data folder, database, certificate, credentials, ports, the way to the push services and the clock are \
            looked at.

            Exit codes: 0 all is well · 1 something is wrong.
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
