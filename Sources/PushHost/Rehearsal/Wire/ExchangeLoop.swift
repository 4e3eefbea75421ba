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
        /// Of the exchange that runs, or ran last.
        var number = 0
        var isGivenUp = false
        var isHurried = false
    }

    private let thread: LuaThread
    private let patience: Duration
    private let state = Mutex(State())

    /// - Parameter patience: what an exchange still gets, in real time, when somebody wants the end.
    init(thread: LuaThread, patience: Duration = .seconds(2)) {
        self.thread = thread
        self.patience = patience
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

    /// Does work to its end on the world's thread, which waits for it there; nil when that was given up: the work goes on by itself.
    @discardableResult
    func finish<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        if thread.isCurrent { return finishHere(work) }
        return await Task(executorPreference: thread) { [self] in finishHere(work) }.value
    }

    /// Gives up what is under way: what it waits for will not come. From any thread, as `hurry`.
    func giveUp() {
        state.withLock { $0.isGivenUp = $0.isRunning }
        thread.wakeUp()
    }

    /// Gives up what is under way unless it ends soon, and so with all that comes after it if it is `forGood`.
    func hurry(forGood: Bool) {
        let number = state.withLock { state in
            state.isHurried = state.isHurried || forGood
            return state.isRunning ? state.number : nil
        }
        if let number { giveUpSoon(number) }
    }

    private func giveUpSoon(_ number: Int) {
        Task { [patience] in
            try? await Task.sleep(for: patience)
            let isUnderWay = state.withLock { $0.isRunning && $0.number == number }
            if isUnderWay { giveUp() }
        }
    }

    private func finishHere<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value? {
        let outcome = Outcome<Value>()
        let (number, isHurried) = state.withLock { state in
            state.number += 1
            (state.isRunning, state.isGivenUp) = (true, false)
            return (state.number, state.isHurried)
        }
        if isHurried { giveUpSoon(number) }
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
            thread.wait { state.withLock { !$0.jobs.isEmpty || $0.isGivenUp } }
            if state.withLock({ $0.isGivenUp }) { return nil }
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
