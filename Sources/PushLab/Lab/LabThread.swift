import Dispatch
import PushModel
import Synchronization

/// Executor of a lab's hubs. It runs one job at a time and detects when it is idle.
///
/// It is idle when no job runs or is queued and no task waits for anything outside, such as a disk or a connection. Every task then sleeps
/// or waits for one that sleeps. A task that is woken queues a job at once, so that the thread is not idle before the task has run.
package final class LabThread: TaskExecutor {
    private struct State {
        var jobs = 0
        var outside = 0
        var waiters: [CheckedContinuation<Void, Never>] = []

        var isQuiet: Bool { jobs == 0 && outside == 0 }
    }

    private let queue = DispatchQueue(label: "lab")
    private let state = Mutex(State())

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Performs work after all work before it.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobs += 1 }
        queue.async { [self] in
            work()
            change { $0.jobs -= 1 }
        }
    }

    /// Starts a task on this executor.
    package func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await work() }
    }

    /// Suspends until the thread is idle.
    package func settle() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                if !state.isQuiet { state.waiters.append(continuation) }
                return state.isQuiet
            }
            if isQuiet { continuation.resume() }
        }
    }

    /// Marks the start of a wait for something outside. Must be followed by ``endOutsideWait()``.
    func beginOutsideWait() { state.withLock { $0.outside += 1 } }

    func endOutsideWait() { change { $0.outside -= 1 } }

    /// Waits for work outside of the lab.
    func outside<Answer>(_ work: @autoclosure () async throws(PushError) -> Answer) async throws(PushError) -> Answer {
        beginOutsideWait()
        defer { endOutsideWait() }
        return try await work()
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            body(&state)
            guard state.isQuiet else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
