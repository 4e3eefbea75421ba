import Bindings
import Foundation
import HostSupport
import Lua
import PushLab
import PushModel
import Synchronization
import Testing

/// Flows on a target without simulation: devices are only handles, and rehearsed steps are skipped.
@Suite struct RealPhoneTests {
    private struct Run {
        var report: FlowReport
        var steps: [FlowStep]

        var error: LuaError? {
            if case .raised(let error) = report.verdict { error } else { nil }
        }

        var hasPassed: Bool {
            if case .passed = report.verdict { true } else { false }
        }
    }

    private func run(
        _ script: FlowScript, secrets: any SecretSource = TestSecrets(), options: [(name: String, value: String?)] = [],
        hasDevices: Bool = true
    ) async throws -> Run {
        let thread = LuaThread(name: "real phones")
        defer { thread.stop() }
        let steps = Mutex<[FlowStep]>([])
        var world = try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: secrets).world
        world.target = FlowWorld.Target(name: "real", isSimulated: false)
        world.simulation = FlowWorld.Simulation(lab: hasDevices ? world.lab.map { HandleLab(inner: $0) } : nil)
        let report = await FlowRunner(world: world, thread: thread, limits: LuaLimits(), seed: 1).run(
            script, run: "r-0001", parameters: FlowParameters(given: options),
            events: { event in
                if case .stepEnded(let step) = event { steps.withLock { $0.append(step) } }
            })
        return Run(report: report, steps: steps.withLock { $0 })
    }

    @Test(
        arguments: [
            ("notify_users", 2), ("register_current_user", 2), ("breaking_news", 2), ("secure_push", 3), ("send_test", 1), ("crowd", 3),
        ])
    func `the bundled flows pass and skip their rehearsed steps`(name: String, steps: Int) async throws {
        let script = try await ScriptFile.read(BuiltProgram.root.appending(path: "scripts/\(name).lua").path, within: nil)
        let run = try await run(
            script, secrets: ProjectSecrets(demoFolder: script.folder), options: name == "crowd" ? [("users", "10"), ("crews", "2")] : [])
        if let error = run.error { Issue.record("\(error)") }
        #expect(run.hasPassed)
        #expect(run.steps.count { $0.status == .passed } == steps)
        #expect(run.steps.count { $0.status == .skipped } > 0)
    }

    @Test(arguments: BindingRegistry.standard.bindings.filter { $0.conditions.needs != nil }.map(\.name))
    func `a binding that needs simulation fails with target.unsupported`(name: String) async throws {
        let binding = try #require(BindingRegistry.standard.binding(named: name))
        // These functions need no phone: they work on names.
        let isOfAll = ["push.devices", "push.find_device"].contains(name)
        let opening = "local push = require 'push' " + (isOfAll ? "" : "local phone = push.device { name = 'alice-1' } ")
        let run = try await run(
            FlowScript(name: "flow.lua", source: Array("\(opening)\(binding.example)".utf8), version: "abc123"), hasDevices: !isOfAll)
        #expect(run.error?.code == "target.unsupported", "\(run.report)")
    }
}
