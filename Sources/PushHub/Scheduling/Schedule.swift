import PushModel

/// Notifications that wait for a due time: scheduled ones, and those with devices that hooks deferred.
struct Schedule: Sendable {
    struct Entry: Sendable {
        let sequence: Int64
        let moment: Timestamp
        /// Whether only devices that hooks deferred are left.
        var isHeld = false
    }

    private var entries: [String: Entry] = [:]
    private var moments = TimeQueue<String>()
    /// Sleeps until the earliest due time.
    var alarm: Task<Void, Never>?
    /// The time for which the alarm is set.
    var armed: Timestamp?
    /// Identifies the current alarm. A replaced one may still wake, or report its cancellation.
    var generation = 0

    var count: Int { entries.count }
    var queuedTimeCount: Int { moments.count }
    var ids: [String] { entries.sorted { ($0.value.moment, $0.value.sequence) < ($1.value.moment, $1.value.sequence) }.map(\.key) }

    /// Scheduled notifications below `sequence`, highest first.
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
        // Due times of cancelled notifications stay in the queue. It is rebuilt when they outnumber the others.
        if moments.count > 2 * entries.count + 64 {
            moments = TimeQueue()
            for (id, entry) in entries.sorted(by: { $0.value.sequence < $1.value.sequence }) { moments.insert(id, at: entry.moment) }
        }
        return entry
    }

    /// The earliest due time.
    mutating func nextDueTime() -> Timestamp? {
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
