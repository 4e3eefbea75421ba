/// Suspended tasks that wait for an event on a phone; longest wait first.
struct Waiters<Value: Sendable>: Sendable {
    struct Waiter: Sendable {
        var ticket: Int
        var phone: PhoneID
        var continuation: CheckedContinuation<Value?, Never>
        /// The value that must be exceeded, for tasks that wait for a count.
        var threshold = 0
    }

    private var waiters: [Waiter] = []

    mutating func join(_ waiter: Waiter) {
        waiters.append(waiter)
    }

    mutating func remove(ticket: Int) -> Waiter? {
        waiters.firstIndex { $0.ticket == ticket }.map { waiters.remove(at: $0) }
    }

    mutating func removeFirst(of phone: PhoneID) -> Waiter? {
        waiters.firstIndex { $0.phone == phone }.map { waiters.remove(at: $0) }
    }

    /// Removes and returns the waiters whose threshold is below the count.
    mutating func removeAll(of phone: PhoneID, below count: Int) -> [Waiter] {
        let ready = waiters.filter { $0.phone == phone && $0.threshold < count }
        waiters.removeAll { $0.phone == phone && $0.threshold < count }
        return ready
    }
}
