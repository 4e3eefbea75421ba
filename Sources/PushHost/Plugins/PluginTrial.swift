import Bindings
import Lua
import PushCore

/// Runs a version of a plugin before anybody is served by it: its specs, each test in a world of its own.
struct PluginTrial: Sendable {
    let source: PluginSource
    var seed: UInt64 = 1
    /// Of each test.
    var limits = LuaLimits(cpu: .seconds(10), wall: .seconds(30))
    /// When the last test must have begun.
    var longest: Duration = .seconds(60)
    var clock: any HubClock = SystemClock()

    /// Throws `plugin.spec` for the first test that fails or comes too late, and what a spec raises outside of its tests.
    func run() async throws {
        let end = clock.steady.now + longest
        for file in source.specs {
            let script = FlowScript(name: source.path(file), source: source.files[file] ?? [], version: source.version)
            let runner = runner
            for (number, test) in try await runner.tests(of: script).enumerated() where !test.isPending {
                guard clock.steady.now <= end else {
                    throw LuaError(
                        kind: .failure, code: "plugin.spec", message: "its specs take longer than \(longest.components.seconds) seconds",
                        hint: "keep out of the plugin's folder what tests more than whether this version may go live")
                }
                let result = try await runner.run(test, number: number + 1, of: script)
                guard let failure = result.report.failure else { continue }
                var error = LuaError(
                    kind: .failure, code: "plugin.spec", message: "its spec fails: \(test.fullName): \(failure.message)",
                    hint: "pushhost plugin test \(source.name) shows more")
                error.location = failure.location
                throw error
            }
        }
    }

    var runner: SpecRunner {
        SpecRunner(limits: limits, seed: seed, scripts: PluginScripts(source: source)) { [seed] thread, _ throws(PushError) in
            try EmbeddedWorld(seed: seed, thread: thread, secrets: NoSecrets()).world
        }
    }
}

/// The files of a plugin as the scripts of a project.
struct PluginScripts: ScriptLibrary {
    let source: PluginSource

    func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        let file = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        guard let content = source.files[file] else {
            throw PushError(
                "script.not_found", "\(source.path(path)) does not exist",
                hint: nearest(file, in: source.files.keys).map { "did you mean \($0)?" })
        }
        return FlowScript(name: source.path(file), source: content, version: source.version)
    }

    func modules(of script: FlowScript) -> LuaSearchPath? { source.modules }

    func plugin(of script: FlowScript) throws(PushError) -> PluginSource { source }
}

/// A trial reads no secrets of the project: what its specs need they bring.
private struct NoSecrets: SecretSource {
    func secret(named name: String, for script: FlowScript) throws(PushError) -> Secret? { nil }
    var names: [String] { [] }
    func places(for name: String) -> String {
        "a trial of a plugin has no secrets: give the spec's plugin some with secrets = { \(name) = \"…\" }"
    }
}

extension FlowReport {
    /// What made a test fail: the error that ended it, or the first expectation.
    fileprivate var failure: (message: String, location: SourceLocation?)? {
        switch verdict {
        case .passed: nil
        // A weak test is its author's matter, and no reason to keep a plugin from a server.
        case .raised(let error) where error.code == "test.no_target": nil
        case .failed: failedExpectations.first.map { ($0.message, $0.location) } ?? ("an expectation failed", nil)
        case .raised(let error): (error.message, error.location)
        }
    }
}
