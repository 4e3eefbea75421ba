/// Tasks that wait for something of a phone, without holding a thread; longest wait first.
struct Waiters<Value: Sendable>: Sendable {
    struct Waiter: Sendable {
        var ticket: Int
        var phone: PhoneID
        var continuation: CheckedContinuation<Value?, Never>
        /// What the awaited value must exceed, for those who wait for a count.
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

    /// All who wait for a count of this phone that is now exceeded.
    mutating func removeAll(of phone: PhoneID, below count: Int) -> [Waiter] {
        let ready = waiters.filter { $0.phone == phone && $0.threshold < count }
        waiters.removeAll { $0.phone == phone && $0.threshold < count }
        return ready
    }
}
