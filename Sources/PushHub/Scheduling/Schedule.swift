import PushModel

/// Notifications that wait for a due time: scheduled ones, and those with devices that hooks deferred.
struct Schedule: Sendable {
    struct Entry: Sendable {
        let sequence: Int64
        let dueTime: Timestamp
        /// Whether only devices that hooks deferred are left.
        var isDeferred = false
    }

    private var entries: [String: Entry] = [:]
    private var dueTimes = TimeQueue<String>()
    /// Sleeps until the earliest due time.
    var alarm: Task<Void, Never>?
    /// The time for which the alarm is set.
    var armed: Timestamp?
    /// Identifies the current alarm. A replaced one may still wake, or report its cancellation.
    var generation = 0

    var count: Int { entries.count }
    var queuedTimeCount: Int { dueTimes.count }
    var ids: [String] { entries.sorted { ($0.value.dueTime, $0.value.sequence) < ($1.value.dueTime, $1.value.sequence) }.map(\.key) }

    /// Scheduled notifications below `sequence`, highest first.
    func sequences(before sequence: Int64?, limit: Int) -> [Int64] {
        Array(entries.values.filter { !$0.isDeferred }.map(\.sequence).filter { $0 < sequence ?? .max }.sorted(by: >).prefix(limit))
    }

    subscript(id: String) -> Entry? { entries[id] }

    mutating func insert(_ id: String, _ entry: Entry) {
        entries[id] = entry
        dueTimes.insert(id, at: entry.dueTime)
    }

    mutating func remove(_ id: String) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        // Due times of cancelled notifications stay in the queue. It is rebuilt when they outnumber the others.
        if dueTimes.count > 2 * entries.count + 64 {
            dueTimes = TimeQueue()
            for (id, entry) in entries.sorted(by: { $0.value.sequence < $1.value.sequence }) { dueTimes.insert(id, at: entry.dueTime) }
        }
        return entry
    }

    /// Cancels the alarm. The caller sets the next one.
    ///
    /// - Parameter time: the time of the next alarm; nil for none.
    mutating func rearm(for time: Timestamp?) {
        alarm?.cancel()
        armed = time
        alarm = nil
        generation += 1
    }

    /// Records that the alarm has ended.
    mutating func disarm() {
        armed = nil
        alarm = nil
    }

    /// The earliest due time.
    mutating func nextDueTime() -> Timestamp? {
        while let first = dueTimes.first {
            if entries[first.subject]?.dueTime == first.time { return first.time }
            _ = dueTimes.popFirst()
        }
        return nil
    }

    mutating func popDue(by now: Timestamp) -> (id: String, entry: Entry)? {
        while let id = dueTimes.popFirst(dueBy: now) {
            if let entry = entries[id], entry.dueTime <= now {
                entries[id] = nil
                return (id, entry)
            }
        }
        return nil
    }
}
