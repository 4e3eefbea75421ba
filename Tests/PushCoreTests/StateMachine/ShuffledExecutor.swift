import Foundation
import PushCore
import Synchronization

/// Runs jobs one at a time on a thread of its own, the next one chosen by a seed: every order in which tasks could go on may come,
/// and the same seed brings the same one again.
final class ShuffledExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let random: SeededRandom

    init(seed: UInt64) { random = .derived(from: seed, for: "order") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// False where nobody has work.
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

    /// Has `work` call `runNext` from a thread that has no task.
    static func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: work()) }.start()
        }
    }
}
