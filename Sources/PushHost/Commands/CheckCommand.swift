import ArgumentParser
import Bindings
import Glibc

struct CheckCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find mistakes in flows without running them.",
        discussion: """
            Without PATH, all *.lua files below the working directory are checked, except hidden folders and editor stubs, whose first \
            line is ---@meta.

            --target azure also reports what Azure Notification Hubs rejects or does not support, --target pushhost what a server \
            without a lab does not support.

            Example: pushhost check scripts --target azure

            Exit codes: 0 no errors, possibly warnings · 2 usage, or nothing to check · 3 errors.
            """)

    @Argument(help: "Lua scripts, or folders with Lua scripts.", completion: .file(extensions: ["lua"]))
    var path: [String] = []

    @Option(
        help: ArgumentHelp("Target that the scripts must run on: embedded, pushhost, azure.", valueName: "name"),
        completion: .list(CheckedTarget.allCases.map(\.rawValue)))
    var target = CheckedTarget.embedded.rawValue

    @Flag(help: "Print one JSON object (schema \(CheckReport.schema)) instead of text.")
    var json = false

    func run(in program: HostProgram) async {
        Glibc.exit(await CheckSession(command: self, registry: program.registry).run())
    }
}
