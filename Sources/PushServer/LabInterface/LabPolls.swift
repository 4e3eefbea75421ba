import PushLab
import PushModel
import Synchronization

/// Requests of a lab's clients that wait for events. When the server begins to stop, they are answered at once.
final class LabPolls: Sendable {
    private struct State {
        var hasEnded = false
        var serial = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// How long a request waits for an event.
    private static let limit: Duration = .seconds(20)

    /// Number of requests that wait.
    var count: Int { state.withLock { $0.waiters.count } }

    /// Suspends until the session has more than `count` events or is over, the time limit has passed, or the server begins to stop.
    func wait(for session: LabSession, after count: Int, clock: any HubClock) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await session.more(than: count) }
            group.addTask { try? await clock.sleep(until: clock.now + Self.limit) }
            group.addTask { [self] in await ended() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Resumes the waiting requests. Further ones do not wait.
    func end() {
        let waiters = state.withLock { state in
            defer { (state.hasEnded, state.waiters) = (true, [:]) }
            return state.waiters.values.map { $0 }
        }
        for continuation in waiters { continuation.resume() }
    }

    /// Suspends until ``end()`` is called or the task is cancelled.
    private func ended() async {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.hasEnded || Task.isCancelled { return true }
                    state.waiters[serial] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: serial) }?.resume()
        }
    }
}
