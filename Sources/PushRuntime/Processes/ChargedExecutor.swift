import Dispatch
package import PushModel

/// Runs a task that works for a run, with its child tasks and the actors that it calls, and charges their CPU time to the account of the
/// run.
package final class ChargedExecutor: TaskExecutor {
    private let account: any WorkAccount
    private let perform: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameter perform: performs work on some thread.
    package init(
        _ account: any WorkAccount,
        perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { work in DispatchQueue.global().async { work() } }
    ) {
        (self.account, self.perform) = (account, perform)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { [self] in
            account.measure { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// Starts a task on this executor.
    package func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await work() }
    }
}
