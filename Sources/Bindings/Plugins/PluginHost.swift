package import Lua
package import PushModel
import Synchronization

/// Holds the live plugins in configured order, and makes all calls of them.
///
/// A call goes to the version that is live when it begins. A replaced version stays until its last call has ended.
package final class PluginHost: HubHooks, PluginTestHost {
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
    private let hookedPhases = Atomic(0)

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

    /// Creates a native plugin with its configuration. Throws `plugin.config`, or `plugin.native` if the plugin rejects the configuration.
    package func load(_ type: NativePluginType, _ configuration: PluginConfiguration) throws(LuaError) -> LoadedPlugin {
        guard configuration.grants.isEmpty else {
            throw .misuse(
                "plugin.native", "\(configuration.file): \(type.name) is a native plugin and cannot be granted capabilities",
                hint: "remove \"grants\": native plugins are not restricted")
        }
        let script = FlowScript(name: "\(NativePluginType.version)/\(type.name)", source: [], version: NativePluginType.version)
        let (services, name) = (services, type.name)
        let values: LuaValue
        do throws(ConfigSchema.InvalidValue) {
            values = try type.settings.values(
                of: configuration.values, at: "config", secrets: { services.secret(named: $0, for: script) }, zones: services.world.zones)
        } catch {
            throw PluginInstance.mismatch(error, of: name, in: configuration)
        }
        guard case .table(let settings) = values else { throw .failure("host.error", "the settings of \(name) are not a table") }
        let log: @Sendable (PluginMessage.Level, String) -> Void = { level, text in
            services.events.log(PluginMessage(plugin: name, version: NativePluginType.version, level: level, text: text))
        }
        do {
            let hooks = try type.make(NativePluginSetup(settings: settings, log: log, clock: services.world.clock))
            return LoadedPlugin(body: .native(NativeInstance(type: type, hooks: hooks)), configuration: configuration)
        } catch {
            throw .misuse("plugin.native", "\(configuration.file): \(name) cannot start: \(error)")
        }
    }

    package func activate(_ source: PluginSource, _ trial: PluginTrial) async throws(LuaError) {
        var services = services
        services.http = trial.http
        services.world.secrets = trial.secrets
        services.events.log = { [log = services.events.log] message in
            trial.onMessage(message)
            log(message)
        }
        let configuration = PluginConfiguration(values: trial.values, grants: trial.grants ?? [], file: trial.file)
        let loaded = try await load(source, configuration, services: services, isGrantedAll: trial.grants == nil)
        install(installed.filter { $0.name != loaded.name } + [loaded])
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
                if let script = plugin.script, let reloaded = before.first(where: { $0.insteadOf === script.identity }) { return reloaded }
                // Failures of other files or settings do not count against these.
                let last = before.first { $0.plugin.name == plugin.name }?.plugin
                let isSame = last?.source.hash == plugin.source.hash && last?.configuration.values == plugin.configuration.values
                let slot = isSame ? slots[plugin.name] : nil
                return LivePlugin(slot: slot ?? PluginSlot(), plugin: plugin)
            }
            state.slots = Dictionary(state.live.map { ($0.plugin.name, $0.slot) }) { first, _ in first }
            let phases = state.live.flatMap(\.plugin.hooks) + absent.flatMap(\.phases)
            hookedPhases.store(phases.reduce(0) { $0 | $1.bit }, ordering: .releasing)
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
            for index in state.live.indices where state.live[index].plugin.name == name { state.live[index].plugin.restrict(to: grants) }
        }
    }

    /// Recreates an instance whose Lua state was stopped in a library function or has run out of memory. Values in its variables are lost.
    private func recreate(_ failed: LivePlugin, _ instance: PluginInstance) {
        guard failed.slot.mayRecreate(services.deadlines.now) else { return }
        guard failed.slot.isRecreating.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
            return
        }
        _ = services.start { [weak self] in
            defer { failed.slot.isRecreating.store(false, ordering: .releasing) }
            guard let self else { return }
            let again: LoadedPlugin
            do throws(LuaError) {
                again = try await load(
                    instance.source, failed.plugin.configuration, services: instance.context.services,
                    isGrantedAll: failed.plugin.isGrantedAll)
            } catch {
                return record(failed, .error, "its Lua state has failed and cannot be recreated: \(error.message) (\(error.code))")
            }
            let isReplaced = state.withLock { state in
                guard let index = state.live.firstIndex(where: { $0.plugin.script === instance }) else { return false }
                var plugin = again
                // Grants may have been revoked meanwhile.
                if !plugin.isGrantedAll { plugin.restrict(to: state.live[index].plugin.configuration.grants) }
                state.live[index] = LivePlugin(slot: failed.slot, plugin: plugin, insteadOf: failed.insteadOf ?? instance.identity)
                return true
            }
            if isReplaced { instance.retire() }
            if isReplaced { record(failed, .warn, "restarted, because its Lua state had failed; values in its variables are lost") }
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

    package func hasHook(_ phase: HookPhase) -> Bool { hookedPhases.load(ordering: .acquiring) & phase.bit != 0 }

    // MARK: - Failures

    func record(_ live: LivePlugin, _ level: PluginMessage.Level, _ text: String, run: String? = nil, at location: SourceLocation? = nil) {
        let log = live.plugin.script?.context.services.events.log ?? services.events.log
        log(
            PluginMessage(
                plugin: live.plugin.name, version: live.plugin.source.version, run: run, level: level, text: text, location: location))
    }

    /// Records a failure for the log, the status and the breaker.
    func failed(_ live: LivePlugin, _ phase: ScriptPhase, _ error: LuaError, _ admission: HookCircuitBreaker.Admission? = nil) {
        live.slot.count(failures: 1, last: error)
        let hint = error.hint.map { "; \($0)" } ?? ""
        record(
            live, .error, "\(phase.name) failed: \(error.message) (\(error.code))\(hint)", run: error.annotations["run"],
            at: error.location)
        guard case .opened(let until) = admission?.failed(services.world.clock.now) else { return }
        record(live, .error, "\(phase.name) is suspended until \(until), after at least \(HookCircuitBreaker.threshold) failures in a row")
    }

    func succeeded(_ live: LivePlugin, _ phase: ScriptPhase, _ admission: HookCircuitBreaker.Admission) {
        if admission.succeeded() == .closed { record(live, .info, "\(phase.name) works again") }
    }

    // MARK: - Hooks and routes

    private var hooks: HookDispatcher { HookDispatcher(host: self) }

    package func beforeSend(_ draft: SendDraft) async throws(PushError) -> SendDraft {
        try hooks.checkAbsent(.beforeSend, origin: draft.origin)
        var draft = draft
        for hook in called(in: .beforeSend, origin: draft.origin) {
            let (given, now) = (draft, services.world.clock.now)
            let asked = HookDispatcher.Question(
                phase: .beforeSend, hub: draft.hub, origin: draft.origin, argument: HookObjects.object(draft))
            draft =
                try await hooks.decide(hook, asked) { values, run in
                    guard let answer = try HookAnswers.arguments(values, HookAnswers.beforeSend, run: run) else { return given }
                    return try given.changed(by: answer, now: now).verified(since: given, now: now)
                } native: {
                    try await $0.beforeSend(given).verified(since: given, now: now)
                } ?? given
        }
        return draft
    }

    package func afterSend(_ sent: SentNotification) async {
        await hooks.notify(.afterSend, hub: sent.draft.hub, origin: sent.draft.origin, HookObjects.object(sent)) {
            try await $0.afterSend(sent)
        }
    }

    package func beforeDeliver(_ group: any HookedGroup) async throws(PushError) {
        if group.count > 0 { try hooks.checkAbsent(.beforeDeliver, origin: group.origin) }
        for hook in called(in: .beforeDeliver, origin: group.origin) where group.count > 0 {
            let asked = HookDispatcher.Question(
                phase: .beforeDeliver, hub: group.hub, origin: group.origin, argument: HookObjects.object(group))
            let rulings = try await hooks.decide(hook, asked) { values, run in
                try [DeliveryRuling](values, plugin: hook.name, run: run)
            } native: {
                try await $0.beforeDeliver(group)
            }
            // If a hook fails, none of its rulings is applied.
            if let rulings, !rulings.isEmpty { _ = await group.rule(rulings) }
        }
    }

    package func onOutcome(_ ended: EndedNotification) async {
        await hooks.notify(.onOutcome, hub: ended.hub, origin: ended.origin, HookObjects.object(ended)) { try await $0.onOutcome(ended) }
    }

    package func onRegister(_ draft: RegistrationDraft) async throws(PushError) -> RegistrationDraft {
        try hooks.checkAbsent(.onRegister, origin: draft.origin)
        var draft = draft
        for hook in called(in: .onRegister, origin: draft.origin) {
            let given = draft
            let asked = HookDispatcher.Question(
                phase: .onRegister, hub: draft.hub, origin: draft.origin, argument: HookObjects.object(draft))
            draft =
                try await hooks.decide(hook, asked) { values, run in
                    guard let answer = try HookAnswers.arguments(values, HookAnswers.onRegister, run: run) else { return given }
                    var changed = try given.changed(by: answer).verified()
                    if case .function(let function)? = answer.value("once_kept"), case .script(let instance, let work) = hook.body {
                        changed.onceKept.append { [weak self] in await self?.hooks.onceKept(hook.live, instance, work, function, given) }
                    }
                    return changed
                } native: {
                    try await $0.onRegister(given).verified()
                } ?? given
        }
        return draft
    }

    package func onLogin(_ login: LoginDraft) async throws(PushError) {
        try hooks.checkAbsent(.onLogin, origin: [])
        for hook in called(in: .onLogin, origin: []) {
            let asked = HookDispatcher.Question(phase: .onLogin, hub: nil, origin: [], argument: HookObjects.object(login))
            _ = try await hooks.decide(hook, asked, Self.refusal) { try await $0.onLogin(login) }
        }
    }

    package func onSecureFetch(_ fetch: SecureFetch) async throws(PushError) {
        try hooks.checkAbsent(.onSecureFetch, origin: [])
        for hook in called(in: .onSecureFetch, origin: []) {
            let asked = HookDispatcher.Question(phase: .onSecureFetch, hub: nil, origin: [], argument: HookObjects.object(fetch))
            _ = try await hooks.decide(hook, asked, Self.refusal) { try await $0.onSecureFetch(fetch) }
        }
    }

    @Sendable private static func refusal(_ values: [LuaValue], _ run: FlowRun) throws {
        try HookAnswers.arguments(values, HookAnswers.refusal, run: run)?.checkVeto()
    }

    package func route(plugin: String, method: String, path: [String]) -> PluginRouteMatch {
        guard let live = live.first(where: { $0.plugin.name == plugin }), let instance = live.plugin.script else { return .notFound }
        // A single slash is the root path of the plugin.
        let parts = path == [""] ? [] : path
        let found = instance.manifest.routes.compactMap { route in route.path.match(parts).map { (route: route, values: $0) } }
        let exact = found.filter { $0.route.method == method }.min { $0.route.path.rank.lexicographicallyPrecedes($1.route.path.rank) }
        guard let exact else { return found.isEmpty ? .notFound : .otherMethods(Set(found.map(\.route.method)).sorted()) }
        return .found(MatchedRoute(host: self, live: live, instance: instance, route: exact.route, values: exact.values))
    }

}

extension HookPhase {
    fileprivate var bit: Int { 1 << (HookPhase.allCases.firstIndex(of: self) ?? 0) }
}
