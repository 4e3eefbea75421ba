/// Mutual exclusion by key: one holder at a time; others wait in order. Not thread-safe: it is part of the state of the actor that owns
/// it.
package struct KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// The waiters behind each holder.
    private var waiters: [Key: [CheckedContinuation<Void, Never>]] = [:]

    package init() {}

    /// The keys that are held.
    package var heldKeys: [Key] { Array(waiters.keys) }

    package func isHeld(_ key: Key) -> Bool { waiters[key] != nil }

    /// Acquires a key. Returns `false` if it is held; the caller must then wait.
    package mutating func acquire(_ key: Key) -> Bool {
        guard waiters[key] == nil else { return false }
        waiters[key] = []
        return true
    }

    /// Joins the queue. The waiter holds the key when it is resumed.
    package mutating func wait(_ key: Key, _ waiter: CheckedContinuation<Void, Never>) {
        waiters[key, default: []].append(waiter)
    }

    /// Passes a key on to the first waiter, or frees it.
    package mutating func release(_ key: Key) {
        guard var queue = waiters[key] else { return }
        guard !queue.isEmpty else {
            waiters[key] = nil
            return
        }
        let next = queue.removeFirst()
        waiters[key] = queue
        next.resume()
    }
}
