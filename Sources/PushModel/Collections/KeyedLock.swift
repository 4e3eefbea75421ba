/// Mutual exclusion by key: one holder at a time; others wait in order. Not thread-safe: it is part of the state of the actor that owns
/// it.
///
/// Public and inlinable, because other modules specialise only such generic types.
public struct KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// The waiters behind each holder.
    @usableFromInline var waiters: [Key: [CheckedContinuation<Void, Never>]] = [:]

    @inlinable public init() {}

    /// The keys that are held.
    @inlinable public var heldKeys: [Key] { Array(waiters.keys) }

    @inlinable public func isHeld(_ key: Key) -> Bool { waiters[key] != nil }

    /// Acquires a key. Returns `false` if it is held; the caller must then wait.
    @inlinable public mutating func acquire(_ key: Key) -> Bool {
        guard waiters[key] == nil else { return false }
        waiters[key] = []
        return true
    }

    /// Joins the queue. The waiter holds the key when it is resumed.
    @inlinable public mutating func wait(_ key: Key, _ waiter: CheckedContinuation<Void, Never>) {
        waiters[key, default: []].append(waiter)
    }

    /// Passes a key on to the first waiter, or frees it.
    @inlinable public mutating func release(_ key: Key) {
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
