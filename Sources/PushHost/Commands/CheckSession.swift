import Bindings
import Glibc
import Lua
import LuaSyntax
import PushCore

/// One `pushhost check`: finds the scripts, checks each, reports, decides the exit code.
struct CheckSession {
    let command: CheckCommand
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(command: CheckCommand) {
        self.command = command
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
            guard let file = await CheckedFile(path, target: target) else { continue }
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
                "check.no_scripts", "there is no file *.lua below \(command.path.first ?? "the working directory")",
                hint: "give a Lua script, or a folder with some")
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

/// A script with what was found in it.
struct CheckedFile {
    let path: String
    let findings: [Finding]
    /// Why it could not be read.
    let failure: PushError?
    private let source: SourceText

    /// Nil for an editor stub.
    init?(_ path: String, target: CheckedTarget) async {
        self.path = path
        do throws(PushError) {
            let script = try await ScriptFile.read(path, within: nil)
            source = SourceText(script.source)
            guard !source.line(1).hasPrefix("---@meta") else { return nil }
            let checker = FlowChecker(modules: ProjectScripts().modules(of: script), target: target)
            findings = checker.findings(in: script.source, name: path)
            failure = nil
        } catch {
            source = SourceText([])
            findings = []
            failure = error
        }
    }

    var errorCount: Int { findings.count { $0.severity == .error } + (failure == nil ? 0 : 1) }

    var warningCount: Int { findings.count { $0.severity == .warning } }

    func lines(_ palette: Palette) -> [String] {
        if let failure { return Diagnostic(LuaError(failure), source: [], scriptName: "", palette: palette).lines }
        let found = findings.filter { $0.code == "check.secret" }.map(\.span)
        let secrets = Set(found + SecretTexts.spans(in: source)).sorted { $0.lowerBound < $1.lowerBound }
        return findings.flatMap { Diagnostic($0, source: source, secrets: secrets, palette: palette).lines }
    }
}
