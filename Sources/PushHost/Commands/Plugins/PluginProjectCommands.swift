import ArgumentParser
import Bindings
import Glibc
import Lua
import PushLab
import PushModel
import PushRuntime
import PushServer

struct PluginNewCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Create a plugin with an example init.lua and its spec.",
        discussion: """
            Does not overwrite files.

            Example: pushhost plugin new frequency-cap
            """)

    @Argument(help: "Name of the new plugin: lower-case letters, digits and -.")
    var name: String

    @OptionGroup
    var options: PluginOptions

    func run(in program: HostProgram) async {
        await options.session.run { () async throws(PushError) in
            try PluginFolder.check(name: name)
            let folder = try options.folder()
            try PluginGrants.checkIsScript(name, in: program)
            let files = NewPlugin(name: name).files
            try NewFiles(folder: folder.folder(of: name), files: files, hint: "choose another name").write()
            let path = folder.folder(of: name)
            return CommandResult(
                json: .object(["name": .string(name), "files": .array(files.map { .string("\(path)/\($0.path)") })])
            ) { _ in
                let next = [
                    ("pushhost plugin test \(name)", "run its spec"),
                    ("pushhost plugin enable \(name) --grant", "make it live in the server"),
                    ("pushhost plugin list", "see its state"),
                ]
                return ["Wrote to \(path)"] + Self.table(files.map { ($0.path, $0.purpose) }, least: 24) + ["", "Next"]
                    + Self.table(next, least: 38)
            }
        }
    }

    /// Formats rows as two columns with at least two spaces between them.
    private static func table(_ rows: [(String, String)], least: Int) -> [String] {
        let width = max(least, (rows.map(\.0.count).max() ?? 0) + 2)
        return rows.map { "  \($0.0.padded(to: width))\($0.1)" }
    }
}

struct PluginCheckCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Find mistakes in plugins, their manifests and their configuration.",
        discussion: """
            Without NAME, all plugins are checked.

            Example: pushhost plugin check frequency-cap

            Exit codes: 0 no errors · 2 usage · 3 errors.
            """)

    @Argument(help: "Names of plugins.")
    var name: [String] = []

    @OptionGroup
    var options: PluginOptions

    func run(in program: HostProgram) async {
        await options.session.run { () async throws(PushError) in
            let folder = try options.folder()
            let list = try PluginListFile(folder).list()
            let settings = try options.settings()
            let versions = PluginVersions(path: "\(settings.data)/plugins")
            // All plugins in the folder, and enabled ones that are not in it: native or missing plugins.
            let used = list.entries.filter(\.isEnabled).map(\.name)
            let names = name.isEmpty ? folder.names + used.filter { !folder.names.contains($0) } : name
            guard !names.isEmpty else {
                throw PushError(
                    "plugin.not_found", "no plugins below \(folder.path)", hint: "create one with pushhost plugin new NAME")
            }
            var reports: [(name: String, findings: [String], error: LuaError?)] = []
            for name in names {
                do throws(PushError) {
                    reports.append(try await Self.report(name, list[name], folder, versions, program))
                } catch {
                    // An unknown plugin is an error only if it was named on the command line.
                    guard self.name.isEmpty || error.code != "plugin.not_found" else { throw error }
                    reports.append((name, [], LuaError(error)))
                }
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
                        let verdict = report.error == nil && report.findings.isEmpty ? "no findings" : "see below"
                        return ["\(palette.bold(report.name))  \(verdict)"] + report.findings + error
                    }
                }, status: isWrong ? ExitStatus.script : ExitStatus.pass)
        }
    }
}

extension PluginCheckCommand {
    static func report(
        _ name: String, _ entry: PluginList.Entry?, _ folder: PluginFolder, _ versions: PluginVersions, _ program: HostProgram
    ) async throws(PushError) -> (name: String, findings: [String], error: LuaError?) {
        let probe = PluginProbe(folder: folder, program: program)
        if let native = program.plugin(named: name) {
            do throws(LuaError) {
                _ = try await probe.tried(native, entry ?? PluginList.Entry(name: name))
                return (name, [], nil)
            } catch {
                return (name, [], error)
            }
        }
        let source = try versions.source(of: entry ?? PluginList.Entry(name: name), in: folder)
        var findings: [String] = []
        for path in source.files.keys.sorted() {
            guard let file = await CheckedFile(source.path(path), program.registry, target: .embedded) else { continue }
            findings += file.lines(Palette(isOn: false))
        }
        do throws(LuaError) {
            _ = try await probe.tried(source, entry, grantingAll: entry == nil)
            return (name, findings, nil)
        } catch {
            // A syntax error is already among the findings.
            return (name, findings, error.code == "script.syntax" && !findings.isEmpty ? nil : error)
        }
    }
}

struct PluginTestCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run the specs of plugins, each test in isolation.",
        discussion: """
            Without NAME, the specs of all plugins are run.

            Example: pushhost plugin test frequency-cap
            """)

    @Argument(help: "Names of plugins.")
    var name: [String] = []

    @Option(help: ArgumentHelp("Run only tests whose full name contains this text.", valueName: "text"))
    var filter: String?

    @Flag(help: "Run again when a file changes.")
    var watch = false

    @Flag(help: "Print TAP (Test Anything Protocol 14) instead of text.")
    var tap = false

    @OptionGroup
    var options: PluginOptions

    func run(in program: HostProgram) async throws {
        let folder = try options.folder()
        var specs = 0
        for name in name {
            try PluginGrants.checkIsScript(name, in: program)
            specs += try folder.source(of: name).specs.count
        }
        if let name = name.first, specs == 0 {
            throw PushError(
                "test.no_specs", "no *_spec.lua file below \(folder.folder(of: name))",
                hint: "write \(folder.folder(of: name))/\(NewPlugin.spec(of: name)); docs/how-to/plugins.md has an example")
        }
        var arguments = name.isEmpty ? [folder.path] : name.map(folder.folder(of:))
        if let filter { arguments += ["--filter", filter] }
        if watch { arguments.append("--watch") }
        if tap { arguments.append("--tap") }
        if options.json { arguments.append("--json") }
        try await TestCommand.parse(arguments).run(in: program)
    }
}
