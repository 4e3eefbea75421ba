import Dispatch
import Glibc
import PushModel
import Synchronization

/// Threads that execute blocking work on a database, in order of arrival.
///
/// Executing it on Dispatch's queues is several times as expensive: for each piece of work, another thread of a large pool wakes up.
///
/// A thread starts when there is work and no other is idle. All threads end once this object is released and its work is done.
final class DatabaseThreads: Sendable {
    private let work: Work

    /// - Parameter count: maximum number of threads.
    init(count: Int) {
        work = Work(count: count)
    }

    deinit { work.close() }

    func perform(_ closure: @escaping @Sendable () -> Void) {
        switch work.append(closure) {
        case .started: break
        case .wake(let idle): idle.signal()
        case .start: start()
        }
    }

    private func start() {
        let argument = Unmanaged.passRetained(work)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().execute() }
                return nil
            }, argument.toOpaque())
        if status == 0 {
            pthread_detach(thread)
        } else {
            // The process has too many threads: one of Dispatch is better than none.
            argument.release()
            DispatchQueue.global().async { [work] in work.execute() }
        }
    }

    /// The closures that wait, and the threads that wait for them.
    private final class Work: Sendable {
        private struct State {
            var waiting = FIFOQueue<@Sendable () -> Void>()
            /// Wakes the idle threads. The one that became idle last is woken first, because its caches are warm.
            var idle: [WakeUp] = []
            var started = 0
            var isClosed = false
        }

        enum Next {
            /// A thread has the closure, or will take it when it is done with another.
            case started
            case wake(WakeUp)
            case start
        }

        private let count: Int
        private let state = Mutex(State())

        init(count: Int) { self.count = count }

        func append(_ closure: @escaping @Sendable () -> Void) -> Next {
            state.withLock { state in
                state.waiting.append(closure)
                if let idle = state.idle.popLast() { return .wake(idle) }
                guard state.started < count else { return .started }
                state.started += 1
                return .start
            }
        }

        func close() {
            let idle = state.withLock { state in
                defer { (state.isClosed, state.idle) = (true, []) }
                return state.idle
            }
            for thread in idle { thread.signal() }
        }

        /// Executes closures until none is left and none can follow.
        func execute() {
            let wake = WakeUp()
            while true {
                let (closure, isLast) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
                    if let closure = state.waiting.next() { return (closure, false) }
                    if !state.isClosed { state.idle.append(wake) }
                    return (nil, state.isClosed)
                }
                if isLast { return }
                if let closure { closure() } else { wake.wait() }
            }
        }
    }
}

/// Lets one thread sleep until another wakes it, which may come first.
// @unchecked: `mutex` guards `isDue`.
private final class WakeUp: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isDue = false

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func signal() {
        pthread_mutex_lock(mutex)
        isDue = true
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(condition)
    }

    func wait() {
        pthread_mutex_lock(mutex)
        while !isDue { pthread_cond_wait(condition, mutex) }
        isDue = false
        pthread_mutex_unlock(mutex)
    }
}
