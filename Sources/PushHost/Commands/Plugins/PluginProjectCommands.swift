import ArgumentParser
import Bindings
import Glibc
import Lua
import PushCore

struct PluginNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Begin a plugin: an init.lua that does something, and its spec.",
        discussion: "Overwrites nothing.")

    @Argument(help: "The plugin's name: small letters, digits and -.")
    var name: String

    @OptionGroup
    var options: PluginOptions

    func run() async {
        await options.session.run { () async throws(PushError) in
            try PluginFolder.check(name: name)
            let folder = try options.folder()
            let files = NewPlugin(name: name).files
            try NewFiles(folder: folder.folder(of: name), files: files, hint: "choose another name").write()
            let path = folder.folder(of: name)
            return CommandResult(
                json: .object(["name": .string(name), "files": .array(files.map { .string("\(path)/\($0.path)") })])
            ) { _ in
                ["Wrote to \(path)"] + files.map { "  \($0.path.padded(to: 24))\($0.purpose)" } + [
                    "", "Next", "  \("pushhost plugin test \(name)".padded(to: 38))run its spec",
                    "  \("pushhost plugin enable \(name) --grant".padded(to: 38))make it live in the server",
                    "  \("pushhost plugin list".padded(to: 38))see how it does",
                ]
            }
        }
    }
}

struct PluginCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Find mistakes in plugins, their manifests and their configuration.",
        discussion: "Without a name all are checked. Exit codes: 0 no errors · 2 usage · 3 there are errors.")

    @Argument(help: "The plugins' names.")
    var name: [String] = []

    @OptionGroup
    var options: PluginOptions

    func run() async {
        await options.session.run { () async throws(PushError) in
            let folder = try options.folder()
            let list = try PluginOptions.list(of: folder)
            // Of those of the program only what is in use has a configuration that could be wrong.
            let natives = NativeParts.plugins.map(\.name).filter { list[$0] != nil }
            let names = name.isEmpty ? folder.names + natives : name
            guard !names.isEmpty else {
                throw PushError(
                    "plugin.not_found", "there is no plugin below \(folder.path)", hint: "pushhost plugin new NAME makes one to begin with")
            }
            var reports: [(name: String, findings: [String], error: LuaError?)] = []
            for name in names {
                if let native = NativeParts.plugin(named: name) {
                    var failure: LuaError?
                    do throws(LuaError) {
                        _ = try await PluginProbe(folder: folder).tried(native, list[name] ?? PluginList.Entry(name: name))
                    } catch {
                        failure = error
                    }
                    reports.append((name, [], failure))
                    continue
                }
                let source = try folder.source(of: name)
                var findings: [String] = []
                for path in source.files.keys.sorted() {
                    guard let file = await CheckedFile(source.path(path), target: .embedded) else { continue }
                    findings += file.lines(Palette(isOn: false))
                }
                var failure: LuaError?
                do throws(LuaError) {
                    _ = try await PluginProbe(folder: folder).tried(source, list[name], grantingAll: list[name] == nil)
                } catch {
                    failure = error
                }
                reports.append((name, findings, failure))
            }
            let isWrong = reports.contains { $0.error != nil || $0.findings.contains { $0.contains("error[") } }
            return CommandResult(
                json: .array(
                    reports.map { report in
                        .object([
                            "name": .string(report.name), "findings": .array(report.findings.map(JSON.string)),
                            "error": report.error.map { .string("\($0)") } ?? .null,
                        ])
                    }),
                lines: { palette in
                    reports.flatMap { report in
                        let error = report.error.map { Diagnostic($0, source: [], scriptName: "", palette: palette).lines } ?? []
                        let verdict = report.error == nil && report.findings.isEmpty ? "fine" : "see below"
                        return ["\(palette.bold(report.name))  \(verdict)"] + report.findings + error
                    }
                }, status: isWrong ? ExitStatus.script : ExitStatus.pass)
        }
    }
}

struct PluginTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run the specs of plugins, each test in a world of its own.",
        discussion: "Without a name those of all plugins. Options of pushhost test may follow.")

    @Argument(help: "The plugins' names.")
    var name: [String] = []

    @Option(help: "Run only tests whose full name has this text in it.")
    var filter: String?

    @Flag(help: "Run again whenever a file changes.")
    var watch = false

    @Flag(help: "Print TAP (Test Anything Protocol 14) instead of text.")
    var tap = false

    @OptionGroup
    var options: PluginOptions

    func run() async throws {
        let folder = try options.folder()
        for name in name {
            try PluginGrants.checkIsScript(name)
            _ = try folder.source(of: name)
        }
        var arguments = name.isEmpty ? [folder.path] : name.map(folder.folder(of:))
        if let filter { arguments += ["--filter", filter] }
        if watch { arguments.append("--watch") }
        if tap { arguments.append("--tap") }
        if options.json { arguments.append("--json") }
        try await TestCommand.parse(arguments).run()
    }
}
