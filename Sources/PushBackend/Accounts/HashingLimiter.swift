import PushModel

/// Limits how many passwords are hashed at a time, since each hash takes 128 MiB; further ones wait in a bounded queue. Not thread-safe:
/// it is part of the state of the actor that owns it.
struct HashingLimiter: Sendable {
    static let count = 2
    /// Takes some seconds to process.
    static let maximumQueueLength = 32

    private var taken = 0
    private var line = FIFOQueue<CheckedContinuation<Void, Never>>()

    var isQueueFull: Bool { line.count >= Self.maximumQueueLength }

    /// Acquires a slot. Returns `false` if all are in use; the caller must then wait.
    mutating func take() -> Bool {
        guard taken < Self.count else { return false }
        taken += 1
        return true
    }

    /// Joins the queue. The waiter has a slot when it is resumed.
    mutating func wait(_ waiter: CheckedContinuation<Void, Never>) { line.append(waiter) }

    mutating func leave() {
        if let next = line.next() { next.resume() } else { taken -= 1 }
    }
}
