/// Calls that wait for runs to end, by run number.
struct RunWaiters {
    private var continuations: [Int64: [Int: CheckedContinuation<Void, Never>]] = [:]
    private var last = 0

    /// A number for a call that is going to wait.
    mutating func next() -> Int {
        last += 1
        return last
    }

    mutating func add(_ waiter: Int, for run: Int64, _ continuation: CheckedContinuation<Void, Never>) {
        continuations[run, default: [:]][waiter] = continuation
    }

    /// Resumes one call before the run has ended.
    mutating func resume(_ waiter: Int, of run: Int64) { continuations[run]?.removeValue(forKey: waiter)?.resume() }

    mutating func resumeAll(of run: Int64) {
        for continuation in (continuations.removeValue(forKey: run) ?? [:]).values { continuation.resume() }
    }

    mutating func resumeAll() {
        for (_, waiters) in continuations { for continuation in waiters.values { continuation.resume() } }
        continuations = [:]
    }
}
