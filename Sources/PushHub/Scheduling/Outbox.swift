import PushModel

/// Notifications that wait for delivery: the next ones in memory, and the numbers of the rest, which are read from the store when there is
/// room.
struct Outbox: Sendable {
    /// Maximum number of notifications in memory.
    static let capacity = 256

    private var ready = FIFOQueue<StoredNotification>()
    private var behind = FIFOQueue<Int64>()
    /// Whether the next ones are being read from the store.
    var isRefilling = false

    var count: Int { ready.count + behind.count }
    var isBehind: Bool { !behind.isEmpty }
    var hasReady: Bool { !ready.isEmpty }
    /// Whether to read the next ones.
    var isLow: Bool { ready.count < Self.capacity / 2 }

    mutating func append(_ notification: StoredNotification) {
        if isBehind || isRefilling || ready.count >= Self.capacity {
            behind.append(notification.sequence)
        } else {
            ready.append(notification)
        }
    }

    /// Appends stored notifications of earlier processes.
    mutating func append(behind sequences: [Int64]) { behind.append(contentsOf: sequences) }

    mutating func next() -> StoredNotification? { ready.next() }

    /// The numbers to read next, ascending. `refill` removes them.
    var nextBehind: ArraySlice<Int64> { behind.prefix(Self.capacity / 2) }

    /// Adds what the store returned for the next `count` numbers.
    mutating func refill(_ notifications: [StoredNotification], insteadOf count: Int) {
        ready.append(contentsOf: notifications)
        behind.removeFirst(count)
    }
}
