/// What is to be delivered and waits for its turn: some notifications, and the numbers of those behind them, which are read
/// from the store again when there is room.
struct Outbox: Sendable {
    /// Most notifications that are held in memory.
    static let capacity = 256

    private var ready = Line<KeptNotification>()
    private var behind = Line<Int64>()
    /// Somebody reads the next ones from the store.
    var isRefilling = false

    var count: Int { ready.count + behind.count }
    var isBehind: Bool { !behind.isEmpty }
    var hasReady: Bool { !ready.isEmpty }
    /// Few enough to read the next ones.
    var isLow: Bool { ready.count < Self.capacity / 2 }

    mutating func append(_ notification: KeptNotification) {
        if isBehind || isRefilling || ready.count >= Self.capacity {
            behind.append(notification.sequence)
        } else {
            ready.append(notification)
        }
    }

    /// Those that the store has from before.
    mutating func append(behind sequences: [Int64]) { behind.append(contentsOf: sequences) }

    mutating func next() -> KeptNotification? { ready.next() }

    /// The numbers that are to be read next, ascending; they stay here until `refill`.
    var nextBehind: ArraySlice<Int64> { behind.prefix(Self.capacity / 2) }

    /// What the store had of the next `count` numbers.
    mutating func refill(_ notifications: [KeptNotification], insteadOf count: Int) {
        ready.append(contentsOf: notifications)
        behind.removeFirst(count)
    }
}

/// Notifications that wait for their moments: scheduled ones, and those that hooks hold.
struct Schedule: Sendable {
    struct Entry: Sendable {
        let sequence: Int64
        let moment: Timestamp
        /// Some of its devices are held until then, and others have their verdicts.
        var isHeld = false
    }

    private var entries: [String: Entry] = [:]
    private var moments = TimeQueue<String>()
    /// Sleeps until the first moment.
    var alarm: Task<Void, Never>?
    /// What the alarm sleeps until.
    var armed: Timestamp?
    /// Which alarm it is: one that was set to another moment may still wake, or notice that it was cancelled.
    var generation = 0

    var count: Int { entries.count }
    var momentCount: Int { moments.count }
    var ids: [String] { entries.sorted { ($0.value.moment, $0.value.sequence) < ($1.value.moment, $1.value.sequence) }.map(\.key) }

    /// Scheduled ones below `sequence`, the highest first.
    func sequences(before sequence: Int64?, limit: Int) -> [Int64] {
        Array(entries.values.filter { !$0.isHeld }.map(\.sequence).filter { $0 < sequence ?? .max }.sorted(by: >).prefix(limit))
    }

    subscript(id: String) -> Entry? { entries[id] }

    mutating func insert(_ id: String, _ entry: Entry) {
        entries[id] = entry
        moments.insert(id, at: entry.moment)
    }

    mutating func remove(_ id: String) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        // The moments of those that were cancelled stay until they come: not more of them than of the others.
        if moments.count > 2 * entries.count + 64 {
            moments = TimeQueue()
            for (id, entry) in entries.sorted(by: { $0.value.sequence < $1.value.sequence }) { moments.insert(id, at: entry.moment) }
        }
        return entry
    }

    /// The first moment of one that still waits.
    mutating func nextMoment() -> Timestamp? {
        while let first = moments.first {
            if entries[first.subject]?.moment == first.moment { return first.moment }
            _ = moments.popFirst()
        }
        return nil
    }

    mutating func popDue(by now: Timestamp) -> (id: String, entry: Entry)? {
        while let id = moments.popFirst(dueBy: now) {
            if let entry = entries[id], entry.moment <= now {
                entries[id] = nil
                return (id, entry)
            }
        }
        return nil
    }
}
