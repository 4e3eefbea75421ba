import Foundation
import PushModel
import Synchronization

/// Runs jobs one at a time on its own thread, and picks the next one by a seed. Any possible order of tasks can occur, and the
/// same seed repeats the same order.
final class ShuffledExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let random: SeededRandom

    init(seed: UInt64) { random = .derived(from: seed, for: "order") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Returns false if there are no jobs.
    func runNext() -> Bool {
        let next = jobs.withLock { jobs -> UnownedJob? in
            guard !jobs.isEmpty else { return nil }
            return jobs.remove(at: Int(random.next() % UInt64(jobs.count)))
        }
        guard let next else { return false }
        next.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }

    func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await work() }
    }

    /// Runs `work`, which calls `runNext`, on a thread without a task.
    static func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: work()) }.start()
        }
    }
}
