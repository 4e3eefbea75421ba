import Dispatch
import PushCore
import Synchronization

/// Where hubs of a lab do their work: one job after the other, so that it is known when there is none left.
///
/// It is quiet when no job runs or waits, and nobody of its tasks waits for something outside: a disk, a connection. Then every
/// task sleeps, or waits for one that does. Whoever is woken has a job at once, so that what was just woken is not taken for
/// quiet.
final class LabThread: TaskExecutor {
    private struct State {
        var jobs = 0
        var outside = 0
        var waiters: [CheckedContinuation<Void, Never>] = []

        var isQuiet: Bool { jobs == 0 && outside == 0 }
    }

    private let queue = DispatchQueue(label: "lab")
    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs += 1 }
        queue.async { [self] in
            job.runSynchronously(on: asUnownedTaskExecutor())
            change { $0.jobs -= 1 }
        }
    }

    /// Starts work that belongs to the lab.
    func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await work() }
    }

    /// Suspends until it is quiet.
    func settle() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                if !state.isQuiet { state.waiters.append(continuation) }
                return state.isQuiet
            }
            if isQuiet { continuation.resume() }
        }
    }

    /// Somebody begins to wait for what is not of the lab; to be followed by ``comeBack()``.
    func goOut() { state.withLock { $0.outside += 1 } }

    func comeBack() { change { $0.outside -= 1 } }

    /// Waits for what is not of the lab.
    func outside<Answer>(_ work: @autoclosure () async throws(PushError) -> Answer) async throws(PushError) -> Answer {
        goOut()
        defer { comeBack() }
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
