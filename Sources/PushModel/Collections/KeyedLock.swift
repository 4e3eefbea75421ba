/// Mutual exclusion by key: one holder at a time; others wait in order. Not thread-safe: it is part of the state of the actor that owns
/// it.
package struct KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// The waiters behind each holder.
    private var lines: [Key: [CheckedContinuation<Void, Never>]] = [:]

    package init() {}

    /// The keys that are held.
    package var taken: [Key] { Array(lines.keys) }

    package func isTaken(_ key: Key) -> Bool { lines[key] != nil }

    /// Acquires a key. Returns `false` if it is held; the caller must then wait.
    package mutating func take(_ key: Key) -> Bool {
        guard lines[key] == nil else { return false }
        lines[key] = []
        return true
    }

    /// Joins the queue. The waiter holds the key when it is resumed.
    package mutating func wait(_ key: Key, _ waiter: CheckedContinuation<Void, Never>) {
        lines[key, default: []].append(waiter)
    }

    package mutating func leave(_ key: Key) {
        guard var line = lines[key] else { return }
        guard !line.isEmpty else {
            lines[key] = nil
            return
        }
        let next = line.removeFirst()
        lines[key] = line
        next.resume()
    }
}
