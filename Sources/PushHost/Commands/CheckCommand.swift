import ArgumentParser
import Glibc

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find mistakes in flows without running them.",
        discussion: """
            Without PATH, all files *.lua below the working directory are checked. Editor stubs, whose first line is ---@meta, \
            and hidden folders are passed over.

            Exit codes: 0 no errors, warnings at most · 2 usage, or nothing to check · 3 there are errors.
            """)

    @Argument(help: "Lua scripts, or folders of them.", completion: .file(extensions: ["lua"]))
    var path: [String] = []

    @Flag(help: "Print one JSON object (schema \(CheckReport.schema)) instead of text.")
    var json = false

    func run() async {
        Glibc.exit(await CheckSession(command: self).run())
    }
}
