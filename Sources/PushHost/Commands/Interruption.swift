import Dispatch
import Glibc
import PushCore
import Synchronization

/// Ctrl-C, SIGTERM and the end of the terminal: the first asks the flow to clean up and end, the second ends the program. Whoever
/// sends SIGTERM, or SIGHUP, sends no second one: five seconds after it the program ends in any case.
final class Interruption: Sendable {
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var isTermination = false
        var action: (@Sendable () -> Void)?
        var farewell: (@Sendable () -> Void)?
        var isEnding = false
    }

    init() {
        for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !Signals.isIgnored(number) {
            Signals.watch(number) { [self] in interrupt(isFinal: number != SIGINT) }
        }
    }

    var happened: Bool { state.withLock { $0.count > 0 } }

    /// By SIGTERM or SIGHUP.
    var isTermination: Bool { state.withLock { $0.isTermination } }

    /// Called once, at the first interruption, or at once when it has been already. The action before is forgotten.
    func onInterrupt(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.action = action
            return state.count > 0
        }
        if isLate { action() }
    }

    /// Called when a second interruption ends the program.
    func onSecond(_ farewell: @escaping @Sendable () -> Void) { state.withLock { $0.farewell = farewell } }

    /// Does the last work of a run, during which the next interruption ends the program, even if it is the first. After it there is
    /// no farewell to say.
    func ending<Value>(_ work: () async -> Value) async -> Value {
        state.withLock { $0.isEnding = true }
        defer { state.withLock { ($0.farewell, $0.isEnding) = (nil, false) } }
        return await work()
    }

    /// Does work that an interruption cancels, and so does cancelling the task.
    func cancelling<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(PushError) -> Value
    ) async throws(PushError) -> Value {
        let task = Task { () async -> Result<Value, PushError> in
            do throws(PushError) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }
        onInterrupt { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    /// Ends the program when nothing else does.
    static func endSoon(after time: DispatchTimeInterval = .seconds(5)) {
        DispatchQueue.global().asyncAfter(deadline: .now() + time) { _exit(ExitStatus.interrupted) }
    }

    private func interrupt(isFinal: Bool) {
        if isFinal { Self.endSoon() }
        let (isLast, action) = state.withLock { state in
            state.count += 1
            state.isTermination = state.isTermination || isFinal
            let isLast = state.count > 1 || state.isEnding
            return (isLast, isLast ? state.farewell : state.action)
        }
        // Nobody may read what is said.
        if isLast { Self.endSoon(after: .milliseconds(500)) }
        action?()
        if isLast { _exit(ExitStatus.interrupted) }
    }
}
