import Lua
import Synchronization

/// Does the work of an exchange on the thread that waits for it: what the exchange starts runs there, and nothing else of that
/// thread does.
///
/// An exchange over the network takes no time of a rehearsal, as none takes that calls a function. So nothing may happen in the world
/// between its beginning and its end: no other task runs, the thread is not idle, and the clock does not move.
final class ExchangeLoop: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
    }

    private let thread: LuaThread
    private let state = Mutex(State())

    init(thread: LuaThread) {
        self.thread = thread
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isAwaited = state.withLock { state in
            state.jobs.append(job)
            return state.isRunning
        }
        if isAwaited {
            thread.wakeUp()
        } else {
            // What an exchange left behind, such as the end of a connection.
            Task(executorPreference: thread) { [self] in runOne() }
        }
    }

    /// Does work to its end on the world's thread, which waits for it there.
    func finish<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        if thread.isCurrent { return finishHere(work) }
        return await Task(executorPreference: thread) { [self] in finishHere(work) }.value
    }

    private func finishHere<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
        let outcome = Outcome<Value>()
        state.withLock { $0.isRunning = true }
        defer {
            let left = state.withLock { state in
                state.isRunning = false
                return state.jobs.count
            }
            for _ in 0..<left { Task(executorPreference: thread) { [self] in runOne() } }
        }
        Task(executorPreference: self) {
            let value = await work()
            outcome.value.withLock { $0 = value }
        }
        while true {
            if let value = outcome.value.withLock({ $0 }) { return value }
            thread.wait { state.withLock { !$0.jobs.isEmpty } }
            runOne()
        }
    }

    private func runOne() {
        let job = state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
        job?.runSynchronously(on: asUnownedTaskExecutor())
    }
}

private final class Outcome<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}
