import Lua
import PushModel
import PushRuntime
import Synchronization

/// Runs a network exchange to its end on the rehearsal's thread, which runs nothing else meanwhile.
///
/// An exchange takes no time in the rehearsal, like a function call. Until it ends, no other task runs, the thread is not idle, and the
/// clock does not move.
final class ExchangeExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
        /// The number of the running exchange or, if none runs, of the last one.
        var number = 0
        var wasAbandoned = false
        var endsSoon = false
    }

    private let thread: LuaThread
    private let timeout: Duration
    private let state = Mutex(State())

    /// - Parameter timeout: how long, in real time, an exchange may still take after `shortenTimeouts(permanently:)`.
    init(thread: LuaThread, timeout: Duration = .seconds(2)) {
        self.thread = thread
        self.timeout = timeout
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
            // A job that outlives its exchange, for example the close of a connection.
            Task(executorPreference: thread) { [self] in runOne() }
        }
    }

    /// Runs `work` to its end on the rehearsal's thread. Returns nil if the exchange was abandoned; `work` then continues in the
    /// background.
    @discardableResult
    func finish<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        if thread.isCurrent { return finishHere(work) }
        return await Task(executorPreference: thread) { [self] in finishHere(work) }.value
    }

    /// Abandons the running exchange at once. Callable from any thread, as is `shortenTimeouts(permanently:)`.
    func giveUp() {
        state.withLock { $0.wasAbandoned = $0.isRunning }
        thread.wakeUp()
    }

    /// Abandons the running exchange unless it ends within `timeout`; if `permanently`, also every later exchange.
    func shortenTimeouts(permanently: Bool) {
        let number = state.withLock { state in
            state.endsSoon = state.endsSoon || permanently
            return state.isRunning ? state.number : nil
        }
        if let number { abandonSoon(number) }
    }

    private func abandonSoon(_ number: Int) {
        Task { [timeout] in
            let clock = SteadyClock.shared
            try? await clock.sleep(until: clock.now + timeout)
            let isInFlight = state.withLock { $0.isRunning && $0.number == number }
            if isInFlight { giveUp() }
        }
    }

    private func finishHere<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value? {
        let outcome = Outcome<Value>()
        let (number, endsSoon) = state.withLock { state in
            state.number += 1
            (state.isRunning, state.wasAbandoned) = (true, false)
            return (state.number, state.endsSoon)
        }
        if endsSoon { abandonSoon(number) }
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
            thread.wait { state.withLock { !$0.jobs.isEmpty || $0.wasAbandoned } }
            if state.withLock({ $0.wasAbandoned }) { return nil }
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
