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
        services.attendance?.began()
        defer { services.attendance?.ended() }
        let (name, run) = (live.plugin.name, PluginInstance.runName(nextCall()))
        let race = Race<Answer>()
        let deadline = deadlines.begin(after: timeout) {
            race.end(
                .failure(
                    LuaError(
                        kind: .budget, code: "hook.timeout",
                        message: "\(phase.rawValue) of the plugin \(name) took longer than \(timeout.milliseconds) ms")))
        }
        defer { deadlines.end(deadline) }
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
        var work: Task<Void, Never>?
        var end: Result<Answer, any Error>?
    }

    private let state = Mutex(State())

    func begin(_ continuation: CheckedContinuation<Answer, any Error>, work: Task<Void, Never>) {
        let end = state.withLock { state in
            if state.end == nil { (state.continuation, state.work) = (continuation, work) }
            return state.end
        }
        guard let end else { return }
        work.cancel()
        continuation.resume(with: end)
    }

    func end(_ result: Result<Answer, any Error>) {
        let (continuation, work) = state.withLock { state in
            guard state.end == nil else { return (nil as CheckedContinuation<Answer, any Error>?, nil as Task<Void, Never>?) }
            state.end = result
            defer { (state.continuation, state.work) = (nil, nil) }
            return (state.continuation, state.work)
        }
        work?.cancel()
        continuation?.resume(with: result)
    }
}
