import Bindings
import Lua
import PushBackend
import PushHub
import PushLab
import PushModel
import PushRuntime

/// Runs the scripts of a server's flows, each run in its own Lua state and on its own thread. Each run reads the script again, so a change
/// applies from the next run on.
struct ScriptExecutor: FlowExecutor {
    let hubs: ServerHubs
    let program: HostProgram
    /// Creates the app backend over a hub.
    let backend: @Sendable (any HubGateway) -> any BackendGateway
    let clock: any HubClock
    let secrets: any SecretSource
    let random: any RandomSource
    /// The plugins' folder; plugins may contain flows.
    let plugins: String
    /// The hub that a flow uses if it does not name one.
    let ownHub: String
    /// Maximum memory of a run in bytes.
    private static let memory = 256 << 20
    /// Limits until the first call of `push`. Short, because servers and requests wait for it.
    let declarationBudgets = LuaLimits(memory: Self.memory, cpu: .seconds(1))

    private static let largestResult = 64 << 10

    // MARK: - Parameters

    func parameters(of flow: ServedFlow) async throws(PushError) -> FlowDescription {
        let (script, declaration) = try await declaration(of: flow)
        return FlowDescription(
            version: script.version, summary: script.summary,
            schema: JSONArguments(declaration ?? FlowDeclaration(parameters: [])).schema)
    }

    func check(_ arguments: JSONObject, for flow: ServedFlow, ignoringInvalidValues: Bool) async throws(PushError) -> CheckedArguments {
        let declaration = try await declaration(of: flow).declaration ?? FlowDeclaration(parameters: [])
        do throws(LuaError) {
            let (values, secrets) = try JSONArguments(declaration).resolve(arguments, ignoringInvalidValues: ignoringInvalidValues)
            return CheckedArguments(values: values, secrets: secrets)
        } catch {
            throw PushError(error)
        }
    }

    /// Runs the script up to its first call of `push`. Throws `script.*`, or `flow.broken` (500) if the script does not get that far.
    private func declaration(of flow: ServedFlow) async throws(PushError) -> (script: FlowScript, declaration: FlowDeclaration?) {
        let script = try await script(of: flow)
        if let name = flow.hub, hubs.served(name) == nil { throw Self.noHub(name) }
        let thread = LuaThread(name: "flow")
        defer { thread.stop() }
        let runner = runner(hub: UnavailableHub(), thread: thread, limits: declarationBudgets, seed: 1, origin: [])
        do {
            return (script, try await runner.declaration(of: script))
        } catch {
            let error = (error as? LuaError) ?? LuaError(kind: .failure, code: "host.error", message: "\(error)")
            let place = error.location.map { "\($0): " } ?? ""
            let hint = error.kind == .budget ? "check for an endless loop before the first call of push" : error.hint
            throw PushError(
                "flow.broken",
                "the flow \(flow.name) cannot run: \(place)\(error.message) (\(error.code), version \(script.version))", hint: hint,
                status: 500, details: ["cause": .string(error.code), "version": .string(script.version)])
        }
    }

    private func script(of flow: ServedFlow) async throws(PushError) -> FlowScript {
        do throws(PushError) {
            return try ScriptFile.read(try await PluginFlows.path(flow.script, plugins: plugins, of: program))
        } catch {
            var error = error
            // A client that starts the flow should see why it fails, so the error needs a status.
            error.status = error.status ?? 500
            throw error
        }
    }

    // MARK: - Running

    func run(_ order: RunOrder, progress: @escaping @Sendable (RunProgress) -> Void) async -> RunResult {
        let script: FlowScript
        let hub: ServedHub
        do throws(PushError) {
            script = try await self.script(of: order.flow)
            hub = try self.hub(of: order)
        } catch {
            return RunResult(state: .failed, failure: RunReport.Failure(error))
        }
        progress(.began(version: script.version))
        let thread = LuaThread(name: "flow")
        defer { thread.stop() }
        let policy = order.flow.policy
        var limits = LuaLimits(memory: Self.memory, cpu: policy.cpuLimit)
        limits.wall = policy.timeout
        let account = RunAccount(limits)
        let runner = runner(
            hub: FlowHub(
                hub.service, run: order.run.id,
                hubs.admission(to: hub, .flow(order.flow.name), ceiling: policy.ceiling, for: order.run.trigger.principal),
                account: account),
            thread: thread, limits: limits, seed: random.next(),
            origin: [order.flow.origin] + order.run.origin.causes)
        let clock = clock
        let report = await runner.run(
            script, run: order.run.id,
            parameters: FlowParameters(
                values: order.arguments, ignoresInvalidValues: order.run.trigger.suppliesUndeclaredArguments, secrets: order.run.withheld,
                caller: order.caller), account: account
        ) { event in
            // Recording the progress is work for the run.
            ChargedWork.$account.withValue(account) {
                for entry in RunProgress.entries(of: event, at: clock) { progress(entry) }
            }
        }
        return end(report, progress)
    }

    private func hub(of order: RunOrder) throws(PushError) -> ServedHub {
        var name = order.flow.hub
        if case .event(_, let hub) = order.run.trigger { name = name ?? hub }
        if let hub = name.map({ hubs.served($0) }) ?? hubs.own { return hub }
        throw Self.noHub(name ?? ownHub)
    }

    private static func noHub(_ name: String) -> PushError {
        PushError("hub.not_found", "unknown hub \"\(name)\"", hint: "check the name in the settings of the flow", status: 404)
    }

    private func runner(
        hub: any HubGateway, thread: LuaThread, limits: LuaLimits, seed: UInt64, origin: [String]
    ) -> FlowRunner {
        var world = FlowWorld(
            target: FlowWorld.Target(name: "server", isSimulated: false, outlivesRuns: true), module: program.registry, hub: hub,
            backend: backend(hub), clock: clock, secrets: secrets, zones: SystemTimeZones.shared)
        world.usesOwnThreads = true
        var runner = FlowRunner(world: world, thread: thread, limits: limits, seed: seed, scripts: ProjectScripts(), origin: origin)
        // A run's record has the ids of its notifications, and the beginning and end of its log.
        runner.detail = .ids
        return runner
    }

    private func end(_ report: FlowReport, _ progress: (RunProgress) -> Void) -> RunResult {
        switch report.verdict {
        case .passed: return RunResult(state: .completed, result: result(of: report, progress))
        case .failed:
            let first = report.expectations.failures.first
            let more = report.expectations.failedCount > 1 ? ", and \(report.expectations.failedCount - 1) more" : ""
            return RunResult(
                state: .failed, result: result(of: report, progress),
                failure: RunReport.Failure(
                    code: "expect.failed", message: (first?.message ?? "an expectation failed") + more,
                    location: first?.location.map { "\($0)" }))
        case .raised(let error):
            let failure = RunReport.Failure(
                code: error.code, message: error.message, hint: error.hint, location: error.location.map { "\($0)" })
            return RunResult(state: error.kind == .cancelled ? .cancelled : .failed, failure: failure)
        }
    }

    private func result(of report: FlowReport, _ progress: (RunProgress) -> Void) -> JSON? {
        guard let result = report.recordableResult else { return nil }
        guard result.serialized().count <= Self.largestResult else {
            progress(
                .line(
                    RunReport.Line(
                        time: clock.now, level: "warn",
                        text: "the result is not recorded: it is larger than \(Self.largestResult >> 10) KiB")))
            return nil
        }
        return result
    }
}

extension RunProgress {
    /// The parts of an event that are recorded.
    fileprivate static func entries(of event: FlowEvent, at clock: any HubClock) -> [RunProgress] {
        switch event {
        case .stepEnded(let step):
            return [
                .step(
                    RunReport.Step(
                        name: step.name, depth: step.depth, status: step.status.rawValue, began: step.began, ended: step.ended,
                        reason: step.reason, notifications: step.sends.map(\.id)))
            ]
        case .sent(let send), .completed(let send): return [.notification(send.id)]
        case .log(let level, let text, let location):
            return [.line(RunReport.Line(time: clock.now, level: level, text: location.map { "\($0): \(text)" } ?? text))]
        case .warning(let warning):
            let near = warning.near.isEmpty ? "" : " (near: \(warning.near.joined(separator: ", ")))"
            return [.line(RunReport.Line(time: clock.now, level: "warn", text: "\(warning.message)\(near) [\(warning.code)]"))]
        case .stepStarted, .shown, .core, .crossed: return []
        }
    }
}
