import Synchronization

/// Waits for work that may not react to cancellation promptly. On cancellation, the work continues alone.
///
/// - Returns: nil if the task was cancelled before the work ended.
func awaitUnlessCancelled<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
    let end = FirstCompletion<Value>()
    let task = Task { end.come(await work()) }
    return await withTaskCancellationHandler {
        await end.wait()
    } onCancel: {
        task.cancel()
        end.come(nil)
    }
}

/// Completes with the first value; later ones are ignored.
private final class FirstCompletion<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }

    private let state = Mutex(State.open)

    func come(_ value: Value?) {
        let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            if case .over = state { return nil }
            defer { state = .over(value) }
            if case .awaited(let waiter) = state { return waiter }
            return nil
        }
        waiter?.resume(returning: value)
    }

    func wait() async -> Value? {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value?? in
                if case .over(let value) = state { return .some(value) }
                state = .awaited(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
