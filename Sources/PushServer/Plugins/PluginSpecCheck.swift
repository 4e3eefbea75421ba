import Bindings
import Lua
import PushLab
import PushModel
import PushRuntime

/// Runs the specs of a plugin version before it goes live, each test in isolation.
struct PluginSpecCheck: Sendable {
    let source: PluginSource
    let module: any FlowModule
    var seed: UInt64 = 1
    /// Limits of each test.
    var limits = LuaLimits(cpu: .seconds(10), wall: .seconds(30))
    /// No test starts later than this after the start of the trial.
    var longest: Duration = .seconds(60)
    var clock: any HubClock = SystemClock()

    /// Runs all specs. Throws `plugin.spec` for the first test that fails or would start too late, and errors that a spec raises outside
    /// its tests.
    func run() async throws {
        let end = clock.steady.now + longest
        for file in source.specs {
            let script = FlowScript(name: source.path(file), source: source.files[file] ?? [], version: source.version)
            let runner = runner
            for (number, test) in try await runner.tests(of: script).enumerated() where !test.isPending {
                guard clock.steady.now <= end else {
                    throw LuaError(
                        kind: .failure, code: "plugin.spec", message: "the specs take longer than \(longest.components.seconds) seconds",
                        hint: "move specs that need not run before each activation out of the plugin's folder")
                }
                let result = try await runner.run(test, number: number + 1, of: script)
                guard let failure = result.report.failure else { continue }
                var error = LuaError(
                    kind: .failure, code: "plugin.spec", message: "spec failed: \(test.fullName): \(failure.message)",
                    hint: "for details run pushhost plugin test \(source.name)")
                error.location = failure.location
                throw error
            }
        }
    }

    var runner: SpecRunner {
        SpecRunner(limits: limits, seed: seed, scripts: PluginScripts(source: source)) { [seed, module] thread, _ throws(PushError) in
            try EmbeddedWorld(seed: seed, thread: thread, module: module, secrets: NoSecrets()).world
        }
    }
}

/// Serves the files of a plugin as a script library.
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

/// A trial has no access to the project's secrets: specs bring their own.
private struct NoSecrets: SecretSource {
    func secret(named name: String, for script: FlowScript) throws(PushError) -> Secret? { nil }
    var names: [String] { [] }
    func searchedLocations(for name: String) -> String {
        "specs run without the project's secrets: pass secrets = { \(name) = \"…\" } to the spec's plugin"
    }
}

extension FlowReport {
    /// Why the test failed: the error that ended it, or the first failed expectation.
    fileprivate var failure: (message: String, location: SourceLocation?)? {
        switch verdict {
        case .passed: nil
        // A test that checks no target is weak, but no reason to refuse a plugin.
        case .raised(let error) where error.code == "test.no_target": nil
        case .failed: expectations.failures.first.map { ($0.message, $0.location) } ?? ("an expectation failed", nil)
        case .raised(let error): (error.message, error.location)
        }
    }
}
