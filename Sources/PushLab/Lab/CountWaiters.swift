import Synchronization

/// Lets tasks wait until a count has grown, or until the end.
package final class CountWaiters: Sendable {
    private struct State {
        var count = 0
        var hasEnded = false
        var serial = 0
        var waiting: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Number of tasks that wait.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Resumes the tasks that wait for at most this count. A lower count than before changes nothing.
    func advance(to count: Int) {
        let due = state.withLock { state in
            state.count = max(state.count, count)
            let due = state.waiting.filter { $0.value.count < state.count }
            for serial in due.keys { state.waiting[serial] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Resumes all waiting tasks. Further ones do not wait.
    package func end() {
        let waiting = state.withLock { state in
            defer { (state.hasEnded, state.waiting) = (true, [:]) }
            return state.waiting.values.map(\.continuation)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Suspends until the count is higher than `count`, the end, or the cancellation of the task.
    package func wait(beyond count: Int = 0) async {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.hasEnded || state.count > count || Task.isCancelled { return true }
                    state.waiting[serial] = (count, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: serial) }?.continuation.resume()
        }
    }
}
