import NIOCore

/// Runs tasks on an event loop, so that input is processed on the thread that read it. Passing each step of a request between two threads
/// would make them sleep and wake every time.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
