import Bindings
import Glibc
import Lua
import LuaSyntax
import PushLab
import PushModel

/// A script and the findings in it.
struct CheckedFile {
    let path: String
    let findings: [Finding]
    /// Why the file cannot be read; nil if it was read.
    let failure: PushError?
    private let source: SourceText

    /// Nil if the file is an editor stub.
    init?(_ path: String, _ registry: BindingRegistry, target: CheckedTarget) async {
        self.path = path
        do throws(PushError) {
            let script = try await ScriptFile.read(path, within: nil)
            source = SourceText(script.source)
            guard !source.line(1).hasPrefix("---@meta") else { return nil }
            let checker = FlowChecker(registry, modules: ProjectScripts().modules(of: script), target: target)
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
        let secrets = Set(found + SecretSpans.spans(in: source)).sorted { $0.lowerBound < $1.lowerBound }
        return findings.flatMap { Diagnostic($0, source: source, secrets: secrets, palette: palette).lines }
    }
}
