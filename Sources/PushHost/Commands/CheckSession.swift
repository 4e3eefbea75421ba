import Bindings
import Glibc
import Lua
import LuaSyntax
import PushModel
import PushRuntime

/// Runs `pushhost check` once: finds the scripts, checks each, prints the report and returns the exit code.
struct CheckSession {
    let command: CheckCommand
    private let registry: BindingRegistry
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(command: CheckCommand, registry: BindingRegistry) {
        self.command = command
        self.registry = registry
    }

    func run() async -> Int32 {
        let (paths, target): ([String], CheckedTarget)
        do throws(PushError) {
            target = try CheckedTarget(named: command.target)
            paths = try scripts()
        } catch {
            return refuse(error)
        }
        var report = CheckReport(target: target)
        for path in paths {
            guard let file = await CheckedFile(path, registry, target: target) else { continue }
            report.files.append(file)
            guard !command.json else { continue }
            for line in file.lines(Palette(isOn: output.hasColour)) { output.line(line) }
        }
        output.line(command.json ? report.document.text(pretty: true) : report.verdict(Palette(isOn: output.hasColour)))
        return output.finish(reportingTo: errors) ? report.status : max(report.status, ExitStatus.failed)
    }

    private func scripts() throws(PushError) -> [String] {
        let given = command.path.isEmpty ? ["."] : command.path
        let paths = try ScriptFinder.files(under: given, suffix: ".lua")
        guard !paths.isEmpty else {
            throw PushError(
                "check.no_scripts", "no *.lua file below \(command.path.first ?? "the working directory")",
                hint: "name a Lua script, or a folder with Lua scripts")
        }
        return paths
    }

    private func refuse(_ error: PushError) -> Int32 {
        if command.json {
            output.line(CheckReport.refusal(error).text(pretty: true))
            _ = output.finish()
        } else {
            let palette = Palette(isOn: errors.hasColour)
            for line in Diagnostic(LuaError(error), source: [], scriptName: "", palette: palette).lines { errors.line(line) }
            _ = errors.finish()
        }
        return ExitStatus.usage
    }
}
