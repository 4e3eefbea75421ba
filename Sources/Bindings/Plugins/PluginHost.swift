import Lua
import PushCore
import Synchronization

/// The plugins that are live, in the order of the configured list, and all calls of them.
///
/// Calls go to the version that is live when they begin; one that was replaced meanwhile lives until its last call has ended.
package final class PluginHost: Sendable {
    let services: PluginServices
    /// Nil: each version of each plugin has a thread of its own, so that none waits for another one.
    private let sharedThread: LuaThread?
    private let state = Mutex(State())
    private let calls = Atomic(0)
    let deadlines: Deadlines
    private let timers = Mutex<PluginTimers?>(nil)
    /// Called whenever others are live.
    private let installing = Mutex<(@Sendable () -> Void)?>(nil)
    /// A bit for each phase that somebody has a hook in.
    private let wanted = Atomic(0)

    private struct State {
        var live: [LivePlugin] = []
        var slots: [String: PluginSlot] = [:]
        var absent: [AbsentPlugin] = []
    }

    /// - Parameter thread: what all scripts run on; nil: one for each version.
    package init(services: PluginServices, thread: LuaThread? = nil) {
        self.services = services
        sharedThread = thread
        deadlines = Deadlines(clock: services.deadlines, start: services.start)
    }

    // MARK: - Versions

    /// Runs a plugin's `init.lua`. It is not called before it is installed. Throws `plugin.*` and what the script raises.
    ///
    /// - Parameters:
    ///   - services: others than those of the host.
    ///   - isGrantedAll: whether it is granted all that it needs.
    package func load(
        _ source: PluginSource, _ configuration: PluginConfiguration, services: PluginServices? = nil, isGrantedAll: Bool = false
    ) async throws(LuaError) -> LoadedPlugin {
        let thread = OwnThread(sharedThread, name: "plugin-\(source.name)")
        return LoadedPlugin(
            body: .script(
                try await PluginInstance.load(
                    source, configuration, services: services ?? self.services, isGrantedAll: isGrantedAll, thread: thread, run: nextCall())
            ),
            configuration: configuration)
    }

    /// The phases that a version would be asked in with `fail_closed`, whatever it is configured with; nil where its manifest cannot be
    /// read.
    package func closedPhases(of source: PluginSource) async -> Set<HookPhase>? {
        let thread = OwnThread(sharedThread, name: "plugin-\(source.name)")
        let instance = try? await PluginInstance.load(
            source, nil, services: services, isGrantedAll: false, thread: thread, run: nextCall())
        return instance?.manifest.closedPhases
    }

    /// Makes these the live ones, in this order. Of those that were live before and stay, calls go to the new version from now on.
    ///
    /// - Parameter absent: those that would have to be asked as well, but are not live: what they decide about with `fail_closed` is refused.
    package func install(_ plugins: [LoadedPlugin], absent: [AbsentPlugin] = []) {
        state.withLock { state in
            let (slots, before) = (state.slots, state.live)
            state.absent = absent
            state.live = plugins.map { plugin in
                // Its state may have been made anew meanwhile.
                if let script = plugin.script, let anew = before.first(where: { $0.insteadOf === script.identity }) { return anew }
                // What is known of other files, or other settings, says nothing of these.
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

    /// Calls the timers of those that are live, from now on.
    package func startTimers() {
        let timers = PluginTimers(host: self)
        self.timers.withLock { $0 = timers }
        let rearm: @Sendable () -> Void = { [start = services.start] in _ = start { await timers.rearm() } }
        installing.withLock { $0 = rearm }
        rearm()
    }

    /// None of them rings any more.
    package func stopTimers() async {
        installing.withLock { $0 = nil }
        await timers.withLock { $0 }?.stop()
    }

    /// What is live, in order.
    package var installed: [LoadedPlugin] { live.map(\.plugin) }

    var live: [LivePlugin] { state.withLock { $0.live } }

    package var statuses: [PluginStatus] { live.map { PluginStatus($0, now: services.world.clock.now) } }

    /// Takes back at once what is not among these grants, from calls under way as well, and from a state that is made anew.
    package func restrict(_ name: String, to grants: [Capability]) {
        state.withLock { state in
            for place in state.live.indices where state.live[place].plugin.name == name { state.live[place].plugin.restrict(to: grants) }
        }
    }

    /// A state that an endless step of Lua's library has ended, or that is full, is made anew from the same files; what its scripts kept
    /// in variables is gone.
    private func revive(_ dead: LivePlugin, _ instance: PluginInstance) {
        guard dead.slot.mayRevive(services.deadlines.now) else { return }
        guard dead.slot.isReviving.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
            return
        }
        _ = services.start { [weak self] in
            defer { dead.slot.isReviving.store(false, ordering: .releasing) }
            guard let self else { return }
            let again: LoadedPlugin
            do throws(LuaError) {
                again = try await load(
                    instance.source, dead.plugin.configuration, services: instance.context.services,
                    isGrantedAll: dead.plugin.isGrantedAll)
            } catch {
                return tell(dead, .error, "its state is used up, and cannot be made anew: \(error.message) (\(error.code))")
            }
            let isAnew = state.withLock { state in
                guard let place = state.live.firstIndex(where: { $0.plugin.script === instance }) else { return false }
                var plugin = again
                // Something may have been taken back since.
                if !plugin.isGrantedAll { plugin.restrict(to: state.live[place].plugin.configuration.grants) }
                state.live[place] = LivePlugin(slot: dead.slot, plugin: plugin, insteadOf: dead.insteadOf ?? instance.identity)
                return true
            }
            if isAnew { instance.retire() }
            if isAnew { tell(dead, .warn, "begins anew: its state was used up, and what it kept in variables is gone") }
        }
    }

    // MARK: - Calls

    func nextCall() -> LuaRunID { LuaRunID(rawValue: calls.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// Calls a function of a plugin, and notes how that went.
    func call(
        _ live: LivePlugin, _ instance: PluginInstance, _ work: PluginManifest.Work, _ phase: ScriptPhase, hub: String?, origin: [String],
        _ arguments: [LuaValue]
    ) async throws(LuaError) -> (values: [LuaValue], run: FlowRun) {
        live.slot.count(calls: 1)
        services.attendance?.began()
        defer { services.attendance?.ended() }
        let call = PluginInstance.Call(
            work: work, phase: phase, hub: hub, number: nextCall().rawValue, origin: [instance.name] + origin)
        do throws(LuaError) {
            return try await instance.call(call, arguments, deadlines)
        } catch {
            if ["state.ended", "budget.step", "budget.memory"].contains(error.code) { revive(live, instance) }
            throw error.placed(in: work)
        }
    }

    /// Those that have a hook there, but for those on whose behalf the work is done.
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

    /// One that would have to be asked there, but is not live.
    func absent(in phase: HookPhase, origin: [String]) -> AbsentPlugin? {
        state.withLock { state in state.absent.first { $0.phases.contains(phase) && !origin.contains($0.name) } }
    }

    package func isWanted(_ phase: HookPhase) -> Bool { wanted.load(ordering: .acquiring) & phase.bit != 0 }

    // MARK: - What goes wrong

    func tell(_ live: LivePlugin, _ level: PluginMessage.Level, _ text: String, run: String? = nil, at location: SourceLocation? = nil) {
        let log = live.plugin.script?.context.services.log ?? services.log
        log(
            PluginMessage(
                plugin: live.plugin.name, version: live.plugin.source.version, run: run, level: level, text: text, location: location))
    }

    /// Notes a failure: for the log, the lists and the breaker.
    func failed(_ live: LivePlugin, _ phase: ScriptPhase, _ error: LuaError, _ admission: HookBreaker.Admission? = nil) {
        live.slot.count(failures: 1, last: error)
        let hint = error.hint.map { "; \($0)" } ?? ""
        tell(
            live, .error, "\(phase.name) failed: \(error.message) (\(error.code))\(hint)", run: error.annotations["run"],
            at: error.location)
        guard case .opened(let until) = admission?.failed(services.world.clock.now) else { return }
        tell(live, .error, "\(phase.name) is left alone until \(until): it failed \(HookBreaker.threshold) times or more in a row")
    }

    func succeeded(_ live: LivePlugin, _ phase: ScriptPhase, _ admission: HookBreaker.Admission) {
        if admission.succeeded() == .closed { tell(live, .info, "\(phase.name) works again") }
    }
}

/// What is kept of a plugin from version to version.
final class PluginSlot: Sendable {
    let breakers = Dictionary(uniqueKeysWithValues: HookPhase.allCases.map { ($0, HookBreaker()) })
    let isReviving = Atomic(false)
    private let revived = Mutex<Timestamp?>(nil)
    /// Calls of those that are told, which nobody waits for.
    let told = Atomic(0)
    /// Requests to routes that are under way.
    let routes = Atomic(0)
    private let figures = Mutex(Figures())

    struct Figures: Sendable {
        var calls = 0
        var failures = 0
        var dropped = 0
        /// Of these the ones for which too many were under way.
        var behind = 0
        var lastError: LuaError?
    }

    /// Not more often than once in so long: what fills a state at once would do so again.
    private static let betweenRevivals = Duration.seconds(30)

    func mayRevive(_ now: Timestamp) -> Bool {
        revived.withLock { last in
            if let last, now < last + Self.betweenRevivals { return false }
            last = now
            return true
        }
    }

    var current: Figures { figures.withLock { $0 } }

    /// Answers for how many there was no room so far.
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
    /// Stands for the instance that was installed, where its state was made anew. Not the instance itself, whose memory is given back.
    var insteadOf: PluginInstance.Identity?
}

extension LivePlugin {
    /// What an error tells of whose fault it is.
    var details: [String: JSON] { ["plugin": .string(plugin.name), "version": .string(plugin.source.version)] }
}

/// A hook that is about to be called.
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

/// A version of a plugin that was loaded.
package struct LoadedPlugin: Sendable {
    enum Body: Sendable {
        case script(PluginInstance)
        case native(NativeInstance)
    }

    let body: Body
    package private(set) var configuration: PluginConfiguration
    /// As in a spec, whatever it is configured with.
    var isGrantedAll = false

    /// Nil of one that is a part of the program.
    var script: PluginInstance? { if case .script(let instance) = body { instance } else { nil } }

    /// Takes back at once what is not among these grants.
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

    /// What its author calls its version.
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

    /// What it decides about with `fail_closed`.
    package var closedPhases: Set<HookPhase> {
        switch body {
        case .script(let instance): instance.manifest.closedPhases
        case .native(let native): native.type.closedPhases
        }
    }

    package var grants: Grants { script?.context.grants ?? Grants() }
    package var routes: [String] { script?.manifest.routes.map { "\($0.method) /plugins/\(name)\($0.path)" } ?? [] }
    package var timers: [String] { script?.manifest.timers.map { "\($0.schedule.words), \($0.timeZone)" } ?? [] }
    package var flows: [String: String] { script?.manifest.flows ?? [:] }
}

/// A plugin that is in use, but none of its versions is live.
package struct AbsentPlugin: Sendable, Equatable {
    package var name: String
    /// What it decides about with `fail_closed`.
    package var phases: Set<HookPhase>

    package init(name: String, phases: Set<HookPhase>) {
        self.name = name
        self.phases = phases
    }
}

/// What a plugin is configured with.
package struct PluginConfiguration: Sendable, Equatable {
    package var values: JSON
    package var grants: [Capability]
    /// Where it stands, for errors: `plugins/plugins.yaml`.
    package var file: String

    package init(values: JSON = .null, grants: [Capability] = [], file: String) {
        self.values = values
        self.grants = grants
        self.file = file
    }
}

/// How a live plugin is.
package struct PluginStatus: Sendable {
    package var plugin: LoadedPlugin
    package var calls: Int
    package var failures: Int
    /// Of those that are told: calls that were not made, because too many were under way or the hook is left alone.
    package var dropped: Int
    package var lastError: LuaError?
    /// Hooks that are left alone, until when; what is due is tried with the next call.
    package var open: [(hook: HookPhase, until: Timestamp, isDue: Bool)]

    /// Of one that nobody has called.
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
