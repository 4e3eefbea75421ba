import Lua
import PushModel
import Synchronization

/// One loaded version of a plugin. Callers retain it until their call has ended, even if another version is loaded.
final class PluginInstance: Sendable {
    let source: PluginSource
    private let script: FlowScript
    let manifest: PluginManifest
    /// Identifies the instance, even after it has been released.
    let identity = Identity()
    let context: PluginContext
    /// Rules of its timers' time zones, by name.
    let zones: [String: TimeZoneRules]
    private let thread: PluginThread
    private let loaded: Mutex<Loaded?>
    private let runners = Mutex<[String: FlowRunner]>([:])

    final class Identity: Sendable {}

    private struct Loaded: Sendable {
        let state: LuaState
        let program: LuaProgram
    }

    var name: String { source.name }
    var version: String { source.version }

    /// Runs `init.lua` and reads the manifest. Throws errors of the script, and `plugin.config` for an invalid configuration.
    ///
    /// - Parameter configuration: Nil reads only the manifest.
    static func load(
        _ source: PluginSource, _ configuration: PluginConfiguration?, services: PluginServices, isGrantedAll: Bool, thread: PluginThread,
        limits: LuaLimits = loadLimits, run: LuaRunID
    ) async throws(LuaError) -> PluginInstance {
        do {
            return try await PluginInstance(source, configuration, services, isGrantedAll, thread, limits, run)
        } catch let error as LuaError {
            throw error
        } catch {
            throw .failure("host.error", "\(error)")
        }
    }

    /// Limits: memory for all calls of the version together, CPU time for loading.
    static let loadLimits = LuaLimits(memory: 32 << 20, cpu: .seconds(2), tasks: 1000)

    private init(
        _ source: PluginSource, _ configuration: PluginConfiguration?, _ services: PluginServices, _ isGrantedAll: Bool,
        _ thread: PluginThread,
        _ limits: LuaLimits,
        _ id: LuaRunID
    ) async throws {
        self.source = source
        self.thread = thread
        script = try source.script
        context = PluginContext(name: source.name, version: source.version, services: services)
        let state = try LuaState(thread: thread.base, limits: limits, absent: services.world.module.absentNames, searchPath: source.modules)
        let runner = FlowRunner(world: services.world, thread: thread.base, limits: limits, seed: 0)
        let run = Self.run(id, phase: .load, script: script, runner: runner, context: context, limits: limits)
        try await state.define(services.world.module.module(for: run))
        let program: LuaProgram
        do {
            program = try await state.load(
                LuaScript(name: script.name, source: script.source), id: id, annotations: run.annotations, attachment: run,
                account: run.account)
        } catch let error as LuaError where error.kind == .syntax {
            throw LuaError.syntax(of: script) ?? error
        } catch let error as LuaError {
            throw services.world.module.explained(error, in: script)
        }
        loaded = Mutex(Loaded(state: state, program: program))
        manifest = try PluginManifest(
            program.results, folder: source.name, file: script.name, files: Set(source.files.keys))
        guard let configuration else {
            zones = [:]
            return
        }
        zones = try Self.zones(of: manifest, script, services)
        let values = try Self.values(of: configuration, manifest.config, name: source.name, script: script, services)
        let needs = try Self.needs(of: manifest, values, configuration)
        context.loaded(
            Grants(needs: needs, granted: isGrantedAll ? needs : configuration.grants), config: values,
            names: manifest.config.fields.map(\.name))
    }

    private static func needs(
        of manifest: PluginManifest, _ values: LuaValue, _ configuration: PluginConfiguration
    ) throws(LuaError) -> [Capability] {
        do throws(ConfigSchema.InvalidValue) {
            var needs: [Capability] = []
            for need in manifest.needs { needs += try need.capabilities(values, granted: configuration.grants) }
            // A webhook accepts every caller that knows its secret, so the plugin needs permission to read it.
            for case .webhook(let secret, _) in manifest.routes.map(\.authentication) where !needs.contains(.secret(name: secret)) {
                needs.append(.secret(name: secret))
            }
            return needs
        } catch {
            throw mismatch(error, of: manifest.name, in: configuration)
        }
    }

    static func mismatch(_ mismatch: ConfigSchema.InvalidValue, of name: String, in configuration: PluginConfiguration) -> LuaError {
        .misuse(
            "plugin.config", "\(configuration.file): \(name): \(mismatch.path) \(mismatch.reason)", hint: mismatch.hint,
            details: ["key": .string(mismatch.path)])
    }

    private static func zones(
        of manifest: PluginManifest, _ script: FlowScript, _ services: PluginServices
    ) throws(LuaError) -> [String: TimeZoneRules] {
        var zones: [String: TimeZoneRules] = [:]
        for (index, timer) in manifest.timers.enumerated() {
            do throws(PushError) {
                zones[timer.timeZone] = try services.world.zones.rules(of: timer.timeZone)
            } catch {
                throw ManifestTable.refusal(script.name, "every[\(index + 1)].time_zone", "is invalid: \(error.message)", hint: error.hint)
            }
        }
        return zones
    }

    private static func values(
        of configuration: PluginConfiguration, _ schema: ConfigSchema, name: String, script: FlowScript, _ services: PluginServices
    ) throws(LuaError) -> LuaValue {
        do throws(ConfigSchema.InvalidValue) {
            return try schema.values(
                of: configuration.values, at: "config",
                secrets: { services.secret(named: $0, for: script) }, zones: services.world.zones)
        } catch {
            throw mismatch(error, of: name, in: configuration)
        }
    }

    // MARK: - Calls

    /// The parameters of a call.
    struct Call: Sendable {
        var work: PluginManifest.Work
        var phase: ScriptPhase
        /// The hub's name; nil if the call belongs to no hub.
        var hub: String?
        /// Unique among the calls of all plugins.
        var number: Int
        /// The plugins on whose behalf the call acts.
        var origin: [String]
    }

    /// Calls a function of the plugin as a run of its own. Returns its values and the run.
    ///
    /// - Throws: A `LuaError`: that of the script, `budget.cpu`, or `hook.timeout`.
    func call(_ call: Call, _ arguments: [LuaValue], _ deadlines: Deadlines) async throws(LuaError) -> (values: [LuaValue], run: FlowRun) {
        let id = LuaRunID(rawValue: call.number)
        let limits = LuaLimits(memory: Self.loadLimits.memory, cpu: call.work.cpu, tasks: Self.loadLimits.tasks)
        let run = Self.run(
            id, phase: call.phase, script: script, runner: await runner(of: call.hub), context: context, origin: call.origin,
            limits: limits)
        guard let loaded = loaded.withLock({ $0 }) else { throw Self.retired }
        let deadline = deadlines.begin(after: call.work.timeout) { [state = loaded.state] in state.cancel(id) }
        defer { deadlines.end(deadline) }
        do {
            let values = try await loaded.program.call(
                call.work.function, arguments, id: id, annotations: run.annotations,
                limits: limits, attachment: run, account: run.account)
            return (values, run)
        } catch let error as LuaError {
            cleanUp(loaded.state)
            guard error.kind == .cancelled, deadline.hasPassed else { throw error }
            var late = LuaError(
                kind: .budget, code: "hook.timeout",
                message: "\(call.phase.name) of the plugin \(name) took longer than \(call.work.timeout.milliseconds) ms")
            late.location = error.location
            late.annotations = run.annotations
            throw late
        } catch {
            throw .failure("host.error", "\(error)")
        }
    }

    /// Frees the memory of a call whose answer was rejected.
    func releaseAnswer() {
        if let loaded = loaded.withLock({ $0 }) { cleanUp(loaded.state) }
    }

    /// Frees the garbage of a failed call, which may occupy the plugin's whole memory until the next call.
    private func cleanUp(_ state: LuaState) {
        _ = context.services.start { [services = context.services] in
            if await state.collectGarbage(beyond: Self.smallMemory) > Self.smallMemory { services.events.onMemoryFreed() }
        }
    }

    /// Bytes in use by the Lua state; 0 if it was retired.
    var memoryInUse: Int { get async { await loaded.withLock { $0?.state }?.memoryInUse ?? 0 } }

    /// Bytes below which collecting is not worthwhile.
    private static let smallMemory = 4 << 20

    /// Releases the Lua state after another instance has replaced it. Its memory is freed when the calls in progress have ended.
    func retire() { loaded.withLock { $0 = nil } }

    /// The Lua state ends with its last owner, usually this instance.
    deinit { context.services.events.onMemoryFreed() }

    var isRetired: Bool { loaded.withLock { $0 == nil } }

    private static let retired = LuaError(
        kind: .budget, code: "state.ended", message: "the Lua state of the plugin has ended and was replaced",
        hint: "try again")

    private func runner(of hub: String?) async -> FlowRunner {
        let key = hub ?? ""
        if let runner = runners.withLock({ $0[key] }) { return runner }
        var world = context.services.world
        if let hub, let gateway = await context.services.hub(hub) { world.hub = gateway }
        let runner = FlowRunner(world: world, thread: thread.base, limits: Self.loadLimits, seed: 0)
        runners.withLock { $0[key] = runner }
        return runner
    }

    /// The name of a call in errors and logs.
    static func runName(_ id: LuaRunID) -> String { "p-\(id.rawValue.padded(6))" }

    private static func run(
        _ id: LuaRunID, phase: ScriptPhase, script: FlowScript, runner: FlowRunner, context: PluginContext, origin: [String] = [],
        limits: LuaLimits
    ) -> FlowRun {
        let name = runName(id)
        return FlowRun(
            script, runner: runner, identity: FlowRun.Identity(run: name, version: script.version),
            role: RunRole(phase: phase, plugin: context, origin: origin), shared: FlowRun.SharedState(account: RunAccount(limits))
        ) { event in
            func tell(_ level: PluginMessage.Level, _ text: String, _ location: SourceLocation?) {
                context.services.events.log(
                    PluginMessage(
                        plugin: context.name, version: context.version, run: name, level: level, text: text, location: location))
            }
            switch event {
            case .log(let level, let text, let location): tell(PluginMessage.Level(rawValue: level) ?? .info, text, location)
            case .warning(let warning): tell(.warn, warning.message, warning.location)
            default: break
            }
        }
    }
}

/// A thread that stops when its last owner releases it, unless it is shared. Work in progress still completes.
final class PluginThread: Sendable {
    let base: LuaThread
    private let isShared: Bool

    /// - Parameter shared: The shared thread, if there is one.
    init(_ shared: LuaThread?, name: String) {
        base = shared ?? LuaThread(name: name)
        isShared = shared != nil
    }

    deinit {
        if !isShared { base.stop() }
    }
}
