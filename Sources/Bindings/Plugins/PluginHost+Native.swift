import Lua
import PushCore
import Synchronization

// Calls of plugins that are a part of the program.
extension PluginHost {
    /// Calls a hook, and notes how that went. What does not answer in time is cancelled, and waited for no longer: Swift cannot be
    /// stopped where it does not look.
    ///
    /// - Throws: what the hook throws, and `hook.timeout`.
    func call<Answer: Sendable>(
        _ live: LivePlugin, _ native: NativeInstance, _ phase: HookPhase, timeout: Duration, origin: [String],
        _ work: @escaping @Sendable (any NativeHooks) async throws -> Answer
    ) async throws -> Answer {
        live.slot.count(calls: 1)
        let (name, run) = (live.plugin.name, PluginInstance.runName(nextCall()))
        let race = Race<Answer>()
        let (clock, end) = (services.deadlines.steady, services.deadlines.steady.now + timeout)
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    race.begin(
                        continuation,
                        work: services.start {
                            do {
                                let answer = try await HookOrigin.$plugins.withValue([name] + origin) { try await work(native.hooks) }
                                race.end(.success(answer))
                            } catch {
                                race.end(.failure(error))
                            }
                        },
                        alarm: services.start {
                            guard (try? await clock.sleep(until: end)) != nil else { return }
                            race.end(
                                .failure(
                                    LuaError(
                                        kind: .budget, code: "hook.timeout",
                                        message: "\(phase.rawValue) of the plugin \(name) took longer than \(timeout.milliseconds) ms")))
                        })
                }
            } onCancel: {
                race.end(.failure(CancellationError()))
            }
        } catch let error as HookVeto {
            throw error
        } catch {
            var error = LuaError(hookFailure: error)
            error.annotations.merge(["run": run, "script": NativePluginType.version]) { own, _ in own }
            throw error
        }
    }
}

/// Work that is given up when an alarm rings, or whoever waits for it has gone; the first end holds.
private final class Race<Answer: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Answer, any Error>?
        var tasks: [Task<Void, Never>] = []
        var end: Result<Answer, any Error>?
    }

    private let state = Mutex(State())

    func begin(_ continuation: CheckedContinuation<Answer, any Error>, work: Task<Void, Never>, alarm: Task<Void, Never>) {
        let end = state.withLock { state in
            if state.end == nil { (state.continuation, state.tasks) = (continuation, [work, alarm]) }
            return state.end
        }
        guard let end else { return }
        work.cancel()
        alarm.cancel()
        continuation.resume(with: end)
    }

    func end(_ result: Result<Answer, any Error>) {
        let (continuation, tasks) = state.withLock { state in
            guard state.end == nil else { return (nil as CheckedContinuation<Answer, any Error>?, [] as [Task<Void, Never>]) }
            state.end = result
            defer { (state.continuation, state.tasks) = (nil, []) }
            return (state.continuation, state.tasks)
        }
        for task in tasks { task.cancel() }
        continuation?.resume(with: result)
    }
}
