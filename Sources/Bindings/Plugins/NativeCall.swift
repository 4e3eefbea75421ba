import Lua
import PushModel
import Synchronization

/// One call of a hook of a native plugin.
struct NativeCall {
    let live: LivePlugin
    let native: NativeInstance
    let phase: HookPhase
    let timeout: Duration
    /// The plugins on whose behalf the operation is done.
    let origin: [String]

    /// Calls a hook. A call that exceeds its time limit is cancelled and no longer awaited, because Swift code stops only where it checks
    /// for cancellation.
    ///
    /// - Throws: Errors of the hook, and `hook.timeout`.
    func run<Answer: Sendable>(
        in host: PluginHost, _ work: @escaping @Sendable (any NativeHooks) async throws -> Answer
    ) async throws -> Answer {
        live.slot.count(calls: 1)
        host.services.callTracker?.began()
        defer { host.services.callTracker?.ended() }
        let (name, run) = (live.plugin.name, PluginInstance.runName(host.nextCall()))
        let race = Race<Answer>()
        let deadline = host.deadlines.begin(after: timeout) {
            race.end(
                .failure(
                    LuaError(
                        kind: .budget, code: "hook.timeout",
                        message: "\(phase.rawValue) of the plugin \(name) took longer than \(timeout.milliseconds) ms")))
        }
        defer { host.deadlines.end(deadline) }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    race.begin(
                        continuation,
                        work: host.services.start {
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

/// Work that is abandoned when its time limit passes or its caller is cancelled. The first result counts.
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
