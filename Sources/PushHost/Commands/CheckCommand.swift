import ArgumentParser
import Bindings
import Glibc

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find mistakes in flows without running them.",
        discussion: """
            Without PATH, all files *.lua below the working directory are checked. Editor stubs, whose first line is ---@meta, \
            and hidden folders are passed over.

            --target azure also finds what Azure Notification Hubs would refuse or cannot do, --target pushhost what a served \
            hub without a lab cannot.

            Exit codes: 0 no errors, warnings at most · 2 usage, or nothing to check · 3 there are errors.
            """)

    @Argument(help: "Lua scripts, or folders of them.", completion: .file(extensions: ["lua"]))
    var path: [String] = []

    @Option(
        help: "What the scripts are to run against: embedded, pushhost, azure.", completion: .list(CheckedTarget.allCases.map(\.rawValue)))
    var target = CheckedTarget.embedded.rawValue

    @Flag(help: "Print one JSON object (schema \(CheckReport.schema)) instead of text.")
    var json = false

    func run() async {
        Glibc.exit(await CheckSession(command: self).run())
    }
}
