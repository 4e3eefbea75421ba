import Lua
import PushModel
import Synchronization

/// Calls the hooks of one phase, and decides what their failures mean for the operation.
struct HookDispatcher {
    let host: PluginHost

    // MARK: - Blocking hooks

    struct Question {
        var phase: HookPhase
        var hub: String?
        var origin: [String]
        var argument: LuaValue
    }

    /// Throws `hook.absent` (503) if a plugin that decides in this phase is not live.
    func checkAbsent(_ phase: HookPhase, origin: [String]) throws(PushError) {
        guard let plugin = host.absent(in: phase, origin: origin) else { return }
        throw PushError(
            "hook.absent", "the plugin \(plugin.name) is needed for \(phase.rawValue), but is not live",
            hint: "pushhost plugin list shows whether it is being tested, or why it was rejected", status: 503, isRetryable: true,
            details: ["plugin": .string(plugin.name)])
    }

    /// Calls a blocking hook. Returns nil if it failed or its breaker is open, and the operation continues without it.
    ///
    /// - Throws: `hook.veto` (403); for a `fail_closed` hook also `hook.failed` and `hook.open` (503).
    func decide<Answer: Sendable>(
        _ hook: CalledHook, _ question: Question, _ read: ([LuaValue], FlowRun) throws -> Answer,
        native ask: @escaping @Sendable (any NativeHooks) async throws -> Answer
    ) async throws(PushError) -> Answer? {
        let (live, name, phase) = (hook.live, hook.name, question.phase)
        guard let breaker = live.slot.breakers[phase] else { return nil }
        guard let admission = breaker.admission(host.services.world.clock.now) else {
            guard hook.policy == .closed else { return nil }
            throw PushError(
                "hook.open", "the plugin \(name) is needed for \(phase.rawValue), but is suspended after repeated failures",
                hint: "try again later; pushhost plugin list shows the last error", status: 503, isRetryable: true,
                details: live.details)
        }
        do {
            let answer: Answer
            switch hook.body {
            case .script(let instance, let work):
                let (values, run) = try await host.call(
                    live, instance, work, .hook(phase), hub: question.hub, origin: question.origin, [question.argument])
                do {
                    answer = try read(values, run)
                } catch let veto as HookVeto {
                    throw veto
                } catch {
                    instance.releaseAnswer()
                    throw LuaError(hookFailure: error).found(inAnswerOf: work, run)
                }
            case .native(let native):
                answer = try await NativeCall(
                    live: live, native: native, phase: phase, timeout: native.type.timeout, origin: question.origin
                ).run(in: host, ask)
            }
            host.succeeded(live, .hook(phase), admission)
            return answer
        } catch let veto as HookVeto {
            host.succeeded(live, .hook(phase), admission)
            throw PushError(
                "hook.veto", "the plugin \(name) rejected this: \(veto.reason)", status: 403, details: live.details)
        } catch {
            let error = noteFailure(error, of: live, phase, admission)
            guard hook.policy == .closed else { return nil }
            throw PushError(
                "hook.failed", "the plugin \(name) is needed for \(phase.rawValue), but failed (\(error.code))",
                hint: "try again later; the log has the error", status: 503, isRetryable: true,
                details: live.details)
        }
    }

    // MARK: - Hooks that are not awaited

    /// Maximum number of concurrent calls per plugin that are not awaited. Further calls are dropped and reported.
    private static let maximumUnawaitedCalls = 1000

    func notify(
        _ phase: HookPhase, hub: String?, origin: [String], _ argument: LuaValue,
        native notify: @escaping @Sendable (any NativeHooks) async throws -> Void
    ) async {
        for hook in host.called(in: phase, origin: origin) {
            let live = hook.live
            guard let breaker = live.slot.breakers[phase], let admission = breaker.admission(host.services.world.clock.now) else {
                live.slot.count(dropped: 1)
                continue
            }
            guard live.slot.unawaitedCalls.wrappingAdd(1, ordering: .relaxed).oldValue < Self.maximumUnawaitedCalls else {
                live.slot.unawaitedCalls.wrappingSubtract(1, ordering: .relaxed)
                admission.withdrawn()
                // Log one line for many dropped calls.
                if live.slot.count(behind: 1) % Self.maximumUnawaitedCalls == 1 {
                    host.failed(
                        live, .hook(phase),
                        .failure("hook.behind", "\(Self.maximumUnawaitedCalls) calls are in progress; further calls are dropped"))
                }
                continue
            }
            defer { live.slot.unawaitedCalls.wrappingSubtract(1, ordering: .relaxed) }
            do {
                switch hook.body {
                case .script(let instance, let work):
                    _ = try await host.call(live, instance, work, .hook(phase), hub: hub, origin: origin, [argument])
                case .native(let native):
                    try await NativeCall(
                        live: live, native: native, phase: phase, timeout: PluginManifest.Work.observerTimeout, origin: origin
                    ).run(in: host, notify)
                }
                host.succeeded(live, .hook(phase), admission)
            } catch {
                _ = noteFailure(error, of: live, phase, admission)
            }
        }
    }

    /// Records the failure of a called hook. If the caller has cancelled, the hook has not failed.
    private func noteFailure(
        _ failure: any Error, of live: LivePlugin, _ phase: HookPhase, _ admission: HookCircuitBreaker.Admission
    ) -> LuaError {
        let error = LuaError(hookFailure: failure)
        if error.kind == .cancelled, Task.isCancelled {
            admission.withdrawn()
        } else {
            host.failed(live, .hook(phase), error, admission)
        }
        return error
    }

    func onceKept(
        _ live: LivePlugin, _ instance: PluginInstance, _ hook: PluginManifest.Work, _ function: LuaFunctionReference,
        _ draft: RegistrationDraft
    ) async {
        let work = PluginManifest.Work(function: function, cpu: hook.cpu, timeout: PluginManifest.Work.observerTimeout)
        do throws(LuaError) {
            _ = try await host.call(live, instance, work, .onceKept, hub: draft.hub, origin: draft.origin, [HookObjects.object(draft)])
        } catch {
            host.failed(live, .onceKept, error)
        }
    }
}

extension LuaError {
    /// Adds the location of the function to an error that has none.
    func placed(in work: PluginManifest.Work) -> LuaError {
        var error = self
        if error.location == nil { error.location = work.function.definition }
        return error
    }

    /// Adds location and run to an error that the host found in a returned value.
    func found(inAnswerOf work: PluginManifest.Work, _ run: FlowRun) -> LuaError {
        var error = placed(in: work)
        error.annotations.merge(run.annotations) { own, _ in own }
        return error
    }

    /// Converts any failure of a hook to a `LuaError`.
    init(hookFailure error: any Error) {
        switch error {
        case let error as LuaError: self = error
        case is CancellationError: self.init(kind: .cancelled, code: "cancelled", message: "the call was cancelled")
        case let error as PushError: self = LuaError(error)
        case let error as TagError: self = LuaError(PushError(error))
        case let error as TagExpressionError: self = LuaError(PushError(error))
        default: self = .failure("host.error", "\(error)")
        }
    }
}
