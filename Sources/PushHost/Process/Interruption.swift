import Dispatch
import Glibc
import PushModel
import PushRuntime
import Synchronization

/// Handles Ctrl-C, SIGTERM and SIGHUP. The first signal asks the flow to clean up and end; the second ends the program. After SIGTERM or
/// SIGHUP the program ends within five seconds in any case, because their senders do not send a second one.
final class Interruption: Sendable {
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var isTermination = false
        var action: (@Sendable () -> Void)?
        var beforeExit: (@Sendable () -> Void)?
        var isEnding = false
    }

    init() {
        for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !Signals.isIgnored(number) {
            Signals.watch(number) { [self] in interrupt(isFinal: number != SIGINT) }
        }
    }

    var happened: Bool { state.withLock { $0.count > 0 } }

    /// Whether SIGTERM or SIGHUP was received.
    var isTermination: Bool { state.withLock { $0.isTermination } }

    /// Sets the action for the first interruption and replaces the previous action. Called at once if an interruption has already happened.
    func onInterrupt(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.action = action
            return state.count > 0
        }
        if isLate { action() }
    }

    /// Sets what to call before a second interruption ends the program.
    func onSecond(_ beforeExit: @escaping @Sendable () -> Void) { state.withLock { $0.beforeExit = beforeExit } }

    /// Does the last work of a run. During it any interruption ends the program, even the first. Afterwards the action of `onSecond` is
    /// removed.
    func ending<Value>(_ work: () async -> Value) async -> Value {
        state.withLock { $0.isEnding = true }
        defer { state.withLock { ($0.beforeExit, $0.isEnding) = (nil, false) } }
        return await work()
    }

    /// Does work that is cancelled by an interruption or with the current task.
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

    /// Ends the program after `time`, in case nothing else does.
    static func endSoon(after time: DispatchTimeInterval = .seconds(5)) {
        DispatchQueue.global().asyncAfter(deadline: .now() + time) { _exit(ExitStatus.interrupted) }
    }

    private func interrupt(isFinal: Bool) {
        if isFinal { Self.endSoon() }
        let (isLast, action) = state.withLock { state in
            state.count += 1
            state.isTermination = state.isTermination || isFinal
            let isLast = state.count > 1 || state.isEnding
            return (isLast, isLast ? state.beforeExit : state.action)
        }
        // Writing the last message may block, so the program ends even if it does.
        if isLast { Self.endSoon(after: .milliseconds(500)) }
        action?()
        if isLast { _exit(ExitStatus.interrupted) }
    }
}
