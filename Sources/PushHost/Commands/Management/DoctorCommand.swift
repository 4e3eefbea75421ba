import ArgumentParser
import PushCore

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look for what is wrong with a server, whether it runs or not.",
        discussion: """
            Changes nothing: settings, data folder, database, certificate, ports, the way to the push services and the clock are \
            looked at.

            Exit codes: 0 all is well · 1 something is wrong.
            """)

    @OptionGroup
    var options: FolderOptions

    func run() async {
        await ManagementSession(isJSON: options.json).run { () throws(PushError) in
            let checks = await Doctor(source: options.source).examine()
            let isWell = checks.allSatisfy(\.isWell)
            return CommandResult(
                json: ["checks": .array(checks.map(\.json))], lines: { palette in checks.flatMap { $0.lines(palette) } },
                status: isWell ? ExitStatus.pass : ExitStatus.failed)
        }
    }
}
