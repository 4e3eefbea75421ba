import Lua
import PushModel
import Synchronization

/// Holds the live plugins in configured order, and makes all calls of them.
///
/// A call goes to the version that is live when it begins. A replaced version stays until its last call has ended.
package final class PluginHost: Sendable {
    let services: PluginServices
    /// The thread for all scripts. Nil gives each version a thread of its own, so that plugins do not wait for each other.
    private let sharedThread: LuaThread?
    private let state = Mutex(State())
    private let calls = Atomic(0)
    let deadlines: Deadlines
    private let timers = Mutex<PluginTimers?>(nil)
    /// Called when the set of live plugins changes.
    private let installing = Mutex<(@Sendable () -> Void)?>(nil)
    /// One bit for each phase in which some plugin has a hook.
    private let wanted = Atomic(0)

    private struct State {
        var live: [LivePlugin] = []
        var slots: [String: PluginSlot] = [:]
        var absent: [AbsentPlugin] = []
    }

    /// - Parameter thread: The thread for all scripts; nil creates one for each version.
    package init(services: PluginServices, thread: LuaThread? = nil) {
        self.services = services
        sharedThread = thread
        deadlines = Deadlines(clock: services.deadlines, start: services.start)
    }

    // MARK: - Versions

    /// Runs a plugin's `init.lua`. The plugin is not called before it is installed. Throws `plugin.*` and errors of the script.
    ///
    /// - Parameters:
    ///   - services: Services to use instead of the host's.
    ///   - isGrantedAll: Whether the plugin is granted everything it needs.
    package func load(
        _ source: PluginSource, _ configuration: PluginConfiguration, services: PluginServices? = nil, isGrantedAll: Bool = false
    ) async throws(LuaError) -> LoadedPlugin {
        let thread = PluginThread(sharedThread, name: "plugin-\(source.name)")
        return LoadedPlugin(
            body: .script(
                try await PluginInstance.load(
                    source, configuration, services: services ?? self.services, isGrantedAll: isGrantedAll, thread: thread, run: nextCall())
            ),
            configuration: configuration)
    }

    /// The phases in which a version has a `fail_closed` hook, independent of its configuration; nil if its manifest cannot be read.
    package func failClosedPhases(of source: PluginSource) async -> Set<HookPhase>? {
        let thread = PluginThread(sharedThread, name: "plugin-\(source.name)")
        let instance = try? await PluginInstance.load(
            source, nil, services: services, isGrantedAll: false, thread: thread, run: nextCall())
        return instance?.manifest.failClosedPhases
    }

    /// Makes these plugins live, in this order. New calls go to the new versions.
    ///
    /// - Parameter absent: Plugins that are configured but not live. Operations that their `fail_closed` hooks decide are rejected.
    package func install(_ plugins: [LoadedPlugin], absent: [AbsentPlugin] = []) {
        state.withLock { state in
            let (slots, before) = (state.slots, state.live)
            state.absent = absent
            state.live = plugins.map { plugin in
                // The instance may have been replaced by a fresh one meanwhile.
                if let script = plugin.script, let anew = before.first(where: { $0.insteadOf === script.identity }) { return anew }
                // Failures of other files or settings do not count against these.
                let last = before.first { $0.plugin.name == plugin.name }?.plugin
                let isSame = last?.source.hash == plugin.source.hash && last?.configuration.values == plugin.configuration.values
                let slot = isSame ? slots[plugin.name] : nil
                return LivePlugin(slot: slot ?? PluginSlot(), plugin: plugin)
            }
            state.slots = Dictionary(state.live.map { ($0.plugin.name, $0.slot) }) { first, _ in first }
            let phases = state.live.flatMap(\.plugin.hooks) + absent.flatMap(\.phases)
            wanted.store(phases.reduce(0) { $0 | $1.bit }, ordering: .releasing)
        }
        installing.withLock { $0 }?()
    }

    /// Starts calling the timers of live plugins.
    package func startTimers() {
        let timers = PluginTimers(host: self)
        self.timers.withLock { $0 = timers }
        let rearm: @Sendable () -> Void = { [start = services.start] in _ = start { await timers.rearm() } }
        installing.withLock { $0 = rearm }
        rearm()
    }

    /// Stops all timers.
    package func stopTimers() async {
        installing.withLock { $0 = nil }
        await timers.withLock { $0 }?.stop()
    }

    /// The live plugins in order.
    package var installed: [LoadedPlugin] { live.map(\.plugin) }

    var live: [LivePlugin] { state.withLock { $0.live } }

    package var statuses: [PluginStatus] { live.map { PluginStatus($0, now: services.world.clock.now) } }

    /// Revokes all but these grants at once, also for calls in progress and for recreated instances.
    package func restrict(_ name: String, to grants: [Capability]) {
        state.withLock { state in
            for place in state.live.indices where state.live[place].plugin.name == name { state.live[place].plugin.restrict(to: grants) }
        }
    }

    /// Recreates an instance whose Lua state was stopped in a library function or has run out of memory. Values in its variables are lost.
    private func recreate(_ dead: LivePlugin, _ instance: PluginInstance) {
        guard dead.slot.mayRecreate(services.deadlines.now) else { return }
        guard dead.slot.isRecreating.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
            return
        }
        _ = services.start { [weak self] in
            defer { dead.slot.isRecreating.store(false, ordering: .releasing) }
            guard let self else { return }
            let again: LoadedPlugin
            do throws(LuaError) {
                again = try await load(
                    instance.source, dead.plugin.configuration, services: instance.context.services,
                    isGrantedAll: dead.plugin.isGrantedAll)
            } catch {
                return tell(dead, .error, "its Lua state has failed and cannot be recreated: \(error.message) (\(error.code))")
            }
            let isAnew = state.withLock { state in
                guard let place = state.live.firstIndex(where: { $0.plugin.script === instance }) else { return false }
                var plugin = again
                // Grants may have been revoked meanwhile.
                if !plugin.isGrantedAll { plugin.restrict(to: state.live[place].plugin.configuration.grants) }
                state.live[place] = LivePlugin(slot: dead.slot, plugin: plugin, insteadOf: dead.insteadOf ?? instance.identity)
                return true
            }
            if isAnew { instance.retire() }
            if isAnew { tell(dead, .warn, "restarted, because its Lua state had failed; values in its variables are lost") }
        }
    }

    // MARK: - Calls

    func nextCall() -> LuaRunID { LuaRunID(rawValue: calls.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// Calls a function of a plugin and counts the call.
    func call(
        _ live: LivePlugin, _ instance: PluginInstance, _ work: PluginManifest.Work, _ phase: ScriptPhase, hub: String?, origin: [String],
        _ arguments: [LuaValue]
    ) async throws(LuaError) -> (values: [LuaValue], run: FlowRun) {
        live.slot.count(calls: 1)
        services.callTracker?.began()
        defer { services.callTracker?.ended() }
        let call = PluginInstance.Call(
            work: work, phase: phase, hub: hub, number: nextCall().rawValue, origin: [instance.name] + origin)
        do throws(LuaError) {
            return try await instance.call(call, arguments, deadlines)
        } catch {
            if ["state.ended", "budget.step", "budget.memory"].contains(error.code) { recreate(live, instance) }
            throw error.placed(in: work)
        }
    }

    /// The hooks of a phase, except those of plugins on whose behalf the operation is done.
    func called(in phase: HookPhase, origin: [String]) -> [CalledHook] {
        live.compactMap { live in
            guard !origin.contains(live.plugin.name) else { return nil }
            switch live.plugin.body {
            case .script(let instance):
                return instance.manifest.hooks[phase].map { CalledHook(live: live, policy: $0.policy, body: .script(instance, $0.work)) }
            case .native(let native):
                guard native.type.phases.contains(phase) else { return nil }
                return CalledHook(live: live, policy: native.type.policy, body: .native(native))
            }
        }
    }

    /// A plugin that has a `fail_closed` hook in this phase but is not live.
    func absent(in phase: HookPhase, origin: [String]) -> AbsentPlugin? {
        state.withLock { state in state.absent.first { $0.phases.contains(phase) && !origin.contains($0.name) } }
    }

    package func isWanted(_ phase: HookPhase) -> Bool { wanted.load(ordering: .acquiring) & phase.bit != 0 }

    // MARK: - Failures

    func tell(_ live: LivePlugin, _ level: PluginMessage.Level, _ text: String, run: String? = nil, at location: SourceLocation? = nil) {
        let log = live.plugin.script?.context.services.log ?? services.log
        log(
            PluginMessage(
                plugin: live.plugin.name, version: live.plugin.source.version, run: run, level: level, text: text, location: location))
    }

    /// Records a failure for the log, the status and the breaker.
    func failed(_ live: LivePlugin, _ phase: ScriptPhase, _ error: LuaError, _ admission: HookCircuitBreaker.Admission? = nil) {
        live.slot.count(failures: 1, last: error)
        let hint = error.hint.map { "; \($0)" } ?? ""
        tell(
            live, .error, "\(phase.name) failed: \(error.message) (\(error.code))\(hint)", run: error.annotations["run"],
            at: error.location)
        guard case .opened(let until) = admission?.failed(services.world.clock.now) else { return }
        tell(live, .error, "\(phase.name) is suspended until \(until), after at least \(HookCircuitBreaker.threshold) failures in a row")
    }

    func succeeded(_ live: LivePlugin, _ phase: ScriptPhase, _ admission: HookCircuitBreaker.Admission) {
        if admission.succeeded() == .closed { tell(live, .info, "\(phase.name) works again") }
    }
}

/// State of a plugin that persists across versions.
final class PluginSlot: Sendable {
    let breakers = Dictionary(uniqueKeysWithValues: HookPhase.allCases.map { ($0, HookCircuitBreaker()) })
    let isRecreating = Atomic(false)
    private let revived = Mutex<Timestamp?>(nil)
    /// Number of notifying calls in progress, which are not awaited.
    let told = Atomic(0)
    /// Number of route requests in progress.
    let routes = Atomic(0)
    private let figures = Mutex(Figures())

    struct Figures: Sendable {
        var calls = 0
        var failures = 0
        var dropped = 0
        /// Dropped calls for which too many calls were in progress.
        var behind = 0
        var lastError: LuaError?
    }

    /// Minimum time between recreations: code that exhausts a state at once would do so again.
    private static let recreationInterval = Duration.seconds(30)

    func mayRecreate(_ now: Timestamp) -> Bool {
        revived.withLock { last in
            if let last, now < last + Self.recreationInterval { return false }
            last = now
            return true
        }
    }

    var current: Figures { figures.withLock { $0 } }

    /// Adds to the figures. Returns the number of calls dropped because too many were in progress.
    @discardableResult
    func count(calls: Int = 0, failures: Int = 0, dropped: Int = 0, behind: Int = 0, last error: LuaError? = nil) -> Int {
        figures.withLock { figures in
            figures.calls += calls
            figures.failures += failures
            figures.dropped += dropped + behind
            figures.behind += behind
            if let error { figures.lastError = error }
            return figures.behind
        }
    }
}

struct LivePlugin: Sendable {
    let slot: PluginSlot
    var plugin: LoadedPlugin
    /// Identity of the installed instance, if this one recreated it. Not the instance itself, so that its memory is freed.
    var insteadOf: PluginInstance.Identity?
}

extension LivePlugin {
    /// Error details that identify the plugin.
    var details: [String: JSON] { ["plugin": .string(plugin.name), "version": .string(plugin.source.version)] }
}

/// A hook to be called.
struct CalledHook: Sendable {
    enum Body: Sendable {
        case script(PluginInstance, PluginManifest.Work)
        case native(NativeInstance)
    }

    let live: LivePlugin
    let policy: PluginManifest.Hook.Policy
    let body: Body

    var name: String { live.plugin.name }
}

/// A loaded version of a plugin.
package struct LoadedPlugin: Sendable {
    enum Body: Sendable {
        case script(PluginInstance)
        case native(NativeInstance)
    }

    let body: Body
    package private(set) var configuration: PluginConfiguration
    /// Whether everything is granted, as in a spec.
    var isGrantedAll = false

    /// The script instance; nil for a native plugin.
    var script: PluginInstance? { if case .script(let instance) = body { instance } else { nil } }

    /// Revokes all but these grants at once.
    mutating func restrict(to grants: [Capability]) {
        configuration.grants.removeAll { old in !grants.contains { $0.covers(old) } }
        script?.context.restrict(to: grants)
    }

    package var source: PluginSource {
        switch body {
        case .script(let instance): instance.source
        case .native(let native): native.type.source
        }
    }

    package var name: String { source.name }

    /// The version given by the author.
    package var release: String {
        switch body {
        case .script(let instance): instance.manifest.version
        case .native(let native): native.type.release
        }
    }

    package var hooks: [HookPhase] {
        let phases =
            switch body {
            case .script(let instance): Set(instance.manifest.hooks.keys)
            case .native(let native): native.type.phases
            }
        return HookPhase.allCases.filter(phases.contains)
    }

    /// The phases in which it has a `fail_closed` hook.
    package var failClosedPhases: Set<HookPhase> {
        switch body {
        case .script(let instance): instance.manifest.failClosedPhases
        case .native(let native): native.type.failClosedPhases
        }
    }

    package var grants: Grants { script?.context.grants ?? Grants() }
    package var routes: [String] { script?.manifest.routes.map { "\($0.method) /plugins/\(name)\($0.path)" } ?? [] }
    package var timers: [String] { script?.manifest.timers.map { "\($0.schedule.words), \($0.timeZone)" } ?? [] }
    package var flows: [String: String] { script?.manifest.flows ?? [:] }
}

/// A configured plugin of which no version is live.
package struct AbsentPlugin: Sendable, Equatable {
    package var name: String
    /// The phases in which it has a `fail_closed` hook.
    package var phases: Set<HookPhase>

    package init(name: String, phases: Set<HookPhase>) {
        self.name = name
        self.phases = phases
    }
}

/// The configuration of a plugin.
package struct PluginConfiguration: Sendable, Equatable {
    package var values: JSON
    package var grants: [Capability]
    /// The configuration file, for errors: `plugins/plugins.yaml`.
    package var file: String

    package init(values: JSON = .null, grants: [Capability] = [], file: String) {
        self.values = values
        self.grants = grants
        self.file = file
    }
}

/// The status of a live plugin.
package struct PluginStatus: Sendable {
    package var plugin: LoadedPlugin
    package var calls: Int
    package var failures: Int
    /// Notifying calls that were dropped, because too many were in progress or the breaker was open.
    package var dropped: Int
    package var lastError: LuaError?
    /// Hooks whose breaker is open, with the end of the pause. `isDue`: the next call is a probe.
    package var open: [(hook: HookPhase, until: Timestamp, isDue: Bool)]

    /// The status of a plugin that has not been called.
    package init(unused plugin: LoadedPlugin) {
        self.plugin = plugin
        (calls, failures, dropped, open) = (0, 0, 0, [])
    }

    fileprivate init(_ live: LivePlugin, now: Timestamp) {
        plugin = live.plugin
        let figures = live.slot.current
        (calls, failures, dropped, lastError) = (figures.calls, figures.failures, figures.dropped, figures.lastError)
        open = HookPhase.allCases.compactMap { phase in live.slot.breakers[phase]?.openUntil.map { (phase, $0, $0 <= now) } }
    }
}

extension HookPhase {
    fileprivate var bit: Int { 1 << (HookPhase.allCases.firstIndex(of: self) ?? 0) }
}
