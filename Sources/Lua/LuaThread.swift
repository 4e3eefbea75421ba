import CLua
import Glibc
import Synchronization

/// A thread that executes Lua states' work in order of arrival.
///
/// It is the executor of its ``LuaState``s and the preferred executor of the operations that scripts start, so the order in which both
/// execute does not depend on other threads. Several states may share one thread.
///
/// The thread lives until ``stop()``.
// @unchecked: `mutex` guards `shared`; C accesses `liveRuns` atomically; only the thread itself accesses `charged`.
public final class LuaThread: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct Shared {
        var work: [Work] = []
        var idleHandler: (@Sendable () -> Bool)?
        var isRunning = false
        var isStopped = false
        var thread: pthread_t?
    }

    private let name: String
    private var shared = Shared()
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let liveRuns = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    /// The accounts charged for the thread's work outside of Lua, by entry number.
    private var charged: [Int: Charged] = [:]
    private var lastCharged = 0

    private struct Charged {
        let account: RunAccount
        let isWaiting: () -> Bool
        let onSpent: () -> Void
    }

    /// Starts a thread. Debuggers show the name.
    public init(name: String) {
        self.name = name
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(wake, nil)
        liveRuns.initialize(to: 0)
    }

    deinit {
        pthread_cond_destroy(wake)
        pthread_mutex_destroy(mutex)
        wake.deallocate()
        mutex.deallocate()
        liveRuns.deallocate()
    }

    /// Sets the handler for idle times. It is called on the thread and returns whether it has added work. If so, the thread looks for work
    /// again; otherwise it sleeps until work arrives.
    public func setIdleHandler(_ handler: (@Sendable () -> Bool)?) {
        withLock {
            shared.idleHandler = handler
            pthread_cond_signal(wake)
        }
    }

    /// Lets the thread end once it has no work left. Work that arrives later is executed on a new thread.
    public func stop() {
        withLock {
            shared.isStopped = true
            pthread_cond_signal(wake)
        }
    }

    // MARK: Executor

    public func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    public func checkIsolated() {
        precondition(isCurrent, "not on the Lua thread \(name)")
    }

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool {
        withLock { shared.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// Blocks the calling thread, which must be this one, until `hasCome` returns true. It executes no other work meanwhile. Code that
    /// makes the condition true must then call ``wakeUp()``.
    /// `hasCome` is called under the thread's lock.
    package func wait(until hasCome: () -> Bool) {
        withLock {
            while !hasCome() { pthread_cond_wait(wake, mutex) }
        }
    }

    package func wakeUp() {
        withLock { _ = pthread_cond_signal(wake) }
    }

    /// Adds work of the machine to the queue.
    func perform(_ work: @escaping @Sendable () -> Void) {
        add(.closure(work))
    }

    /// Changes the number of runs that the thread serves. A single run is not preempted.
    func countRun(_ change: Int32) {
        clua_count_add(liveRuns, change)
    }

    // MARK: Accounts

    /// Starts charging an account for this thread's work outside of Lua. The time is divided equally between all entries.
    /// Call it on the thread; the closures are called there too.
    ///
    /// - Parameters:
    ///   - isWaiting: Whether the account is to be charged now; evaluated for every 5 ms of such time.
    ///   - onSpent: Called when a budget or the time is used up.
    package func charge(
        _ account: RunAccount, while isWaiting: @escaping () -> Bool = { true }, onSpent: @escaping () -> Void = {}
    ) -> Int {
        lastCharged += 1
        charged[lastCharged] = Charged(account: account, isWaiting: isWaiting, onSpent: onSpent)
        return lastCharged
    }

    package func endCharge(_ number: Int) { charged[number] = nil }

    /// Executes host work on this thread and waits until it ends, the account is spent or the caller is cancelled. In the latter cases the
    /// work continues without the caller. Call it on the thread.
    package func whileWithinBudget(_ account: RunAccount, _ work: @escaping @Sendable () async -> Void) async {
        let end = FirstCompletion()
        let number = charge(account, onSpent: { end.come() })
        defer { endCharge(number) }
        Task(executorPreference: self) {
            await work()
            end.come()
        }
        await withTaskCancellationHandler {
            await end.wait()
        } onCancel: {
            end.come()
        }
    }

    private func chargeHostTime(_ time: Int64) {
        let entries = charged.values.filter { $0.isWaiting() }
        guard !entries.isEmpty else { return }
        // An account with several entries, such as that of a run inside another run, pays one share for each.
        let part = Int(time) / entries.count
        for entry in entries {
            entry.account.note(.cpu, part)
            if !entry.account.canContinue { entry.onSpent() }
        }
    }

    // MARK: The thread

    private func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    private func add(_ work: Work) {
        withLock {
            shared.work.append(work)
            if shared.isRunning {
                pthread_cond_signal(wake)
            } else {
                shared.isRunning = true
                start()
            }
        }
    }

    private func start() {
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<LuaThread>.fromOpaque(argument).takeRetainedValue().main()
                return nil
            },
            Unmanaged.passRetained(self).toOpaque())
        precondition(status == 0, "no thread for \(name): error \(status)")
        pthread_detach(thread)
        shared.thread = thread
    }

    private func main() {
        clua_watch_start(name, liveRuns)
        defer { clua_watch_stop() }
        let serial = asUnownedSerialExecutor()
        let task = asUnownedTaskExecutor()
        while let batch = nextBatch() {
            for work in batch {
                switch work {
                case .job(let job): job.runSynchronously(isolatedTo: serial, taskExecutor: task)
                case .closure(let closure): closure()
                }
                let time = clua_take_host_ns()
                if time > 0 { chargeHostTime(time) }
            }
        }
    }

    /// Waits for work. `nil`: the thread must end.
    private func nextBatch() -> [Work]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while shared.work.isEmpty {
            if shared.isStopped {
                shared.isRunning = false
                shared.thread = nil
                return nil
            }
            if let handler = shared.idleHandler {
                pthread_mutex_unlock(mutex)
                let madeWork = handler()
                pthread_mutex_lock(mutex)
                if madeWork || !shared.work.isEmpty { continue }
                if shared.isStopped { continue }
            }
            pthread_cond_wait(wake, mutex)
        }
        let batch = shared.work
        shared.work = []
        return batch
    }
}

/// Completes when the first of several events occurs. Has one waiter.
private final class FirstCompletion: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Void, Never>)
        case come
    }

    private let state = Mutex(State.open)

    func come() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .come }
            if case .awaited(let waiter) = state { return waiter }
            return nil
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { waiter in
            let hasCome = state.withLock { state in
                if case .come = state { return true }
                state = .awaited(waiter)
                return false
            }
            if hasCome { waiter.resume() }
        }
    }
}
