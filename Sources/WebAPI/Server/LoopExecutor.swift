import NIOCore

/// Runs tasks on an event loop, so that what has been read is worked on where it was read. Of two threads that hand a request to
/// each other, each sleeps and wakes for every step.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
