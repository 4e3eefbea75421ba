import PushModel

/// The notifications of a hub, ordered by sequence.
struct MemoryNotifications {
    private struct Row {
        var notification: StoredNotification
        /// Batches in order, each with the number of devices before it.
        var batches: [(first: Int, devices: OutcomeBatch)] = []

        mutating func append(_ devices: OutcomeBatch) {
            guard !devices.isEmpty else { return }
            batches.append((batches.last.map { $0.first + $0.devices.count } ?? 0, devices))
        }
    }

    private var rows: [Row] = []
    private var keys: [String: Int64] = [:]
    private(set) var lastSequence: Int64 = 0

    subscript(sequence: Int64) -> StoredNotification? { index(of: sequence).map { rows[$0].notification } }

    mutating func accept(_ notification: StoredNotification) throws(PushError) -> AcceptanceResult {
        if let known = notification.idempotency.flatMap({ acceptance(under: $0) }) { return known }
        guard index(of: notification.sequence) == nil else {
            throw StorageError.conflict("the notification \(notification.sequence) is already stored")
        }
        var stored = notification
        stored.outcome.devices = []
        rows.insert(Row(notification: stored), at: firstIndex(from: notification.sequence))
        if let key = notification.idempotency?.key { keys[key] = notification.sequence }
        lastSequence = max(lastSequence, notification.sequence)
        return .accepted
    }

    func acceptance(under key: IdempotencyKey) -> AcceptanceResult? {
        keys[key.key].flatMap { self[$0] }.map { AcceptanceResult(key, of: $0) }
    }

    /// Numbers of the plans that unfinished notifications need.
    var boundPlans: Set<Int64> {
        Set(rows.lazy.map(\.notification).filter { !$0.outcome.state.isFinal }.compactMap(\.request.planNumber))
    }

    func ids(ofPlan number: Int64) -> [String] {
        rows.lazy.map(\.notification).filter { $0.request.planNumber == number }.map(\.outcome.id)
    }

    func unfinished(after sequence: Int64, limit: Int) -> [StoredNotification] {
        let behind = sequence == .max ? rows.count : firstIndex(from: sequence + 1)
        return Array(rows[behind...].lazy.map(\.notification).filter { !$0.outcome.state.isFinal }.prefix(limit))
    }

    func unfinished(_ sequences: [Int64]) -> [StoredNotification] {
        sequences.sorted().compactMap { index(of: $0) }.map { rows[$0].notification }.filter { !$0.outcome.state.isFinal }
    }

    /// Ignores progress of a notification that has been deleted in the meantime.
    mutating func record(_ progress: NotificationProgress) {
        guard let index = index(of: progress.sequence) else { return }
        let id = rows[index].notification.outcome.id
        rows[index].notification.outcome = progress.outcome
        rows[index].notification.outcome.id = id
        rows[index].notification.outcome.devices = []
        if let holds = progress.deferredDevices { rows[index].notification.deferredDevices = holds }
        if progress.outcome.state.isFinal { rows[index].notification.deferredDevices = DeferredDevices() }
        rows[index].append(progress.devices)
    }

    func notifications(before sequence: Int64?, limit: Int) -> [StoredNotification] {
        let end = sequence.map { firstIndex(from: $0) } ?? rows.count
        return rows[..<end].suffix(limit).reversed().map(\.notification)
    }

    func devices(of sequence: Int64, from start: Int, limit: Int) -> [DeviceOutcome] {
        guard let index = index(of: sequence) else { return [] }
        var found: [DeviceOutcome] = []
        for (first, devices) in rows[index].batches where first + devices.count > start && found.count < limit {
            found += devices.dropFirst(max(start - first, 0)).prefix(limit - found.count)
        }
        return found
    }

    func outcomes(of sequence: Int64, matching query: DeviceOutcomeQuery?, limit: Int) -> [RecordedOutcome] {
        var found: [RecordedOutcome] = []
        for batch in batches(of: sequence) where found.count < limit {
            found += batch.matching(query).prefix(limit - found.count)
        }
        return found
    }

    func tally(of sequence: Int64) -> OutcomeTally {
        var tally = OutcomeTally()
        for batch in batches(of: sequence) { tally.add(batch) }
        return tally
    }

    /// The device batches of a notification, in order.
    private func batches(of sequence: Int64) -> [OutcomeBatch] { index(of: sequence).map { rows[$0].batches.map(\.devices) } ?? [] }

    func removedDevices(after position: RemovedDevice.Position?, limit: Int) -> [RemovedDevice] {
        let removed = rows.reversed().lazy.flatMap { row in
            row.batches.reversed().lazy.flatMap { first, devices in
                devices.removed.reversed().lazy.map { ($0 + first, devices[$0]) }
            }.map { ordinal, device in
                let outcome = row.notification.outcome
                return RemovedDevice(
                    position: RemovedDevice.Position(sequence: row.notification.sequence, ordinal: Int64(ordinal)),
                    notificationID: outcome.id, time: outcome.endedAt ?? outcome.startedAt ?? outcome.enqueuedAt, device: device)
            }
        }
        guard let position else { return Array(removed.prefix(limit)) }
        let behind = removed.filter { ($0.position.sequence, $0.position.ordinal) < (position.sequence, position.ordinal) }
        return Array(behind.prefix(limit))
    }

    mutating func removeEnded(before time: Timestamp, limit: Int) -> Int {
        let ended = rows.compactMap { row -> (Timestamp, Int64)? in
            guard row.notification.outcome.state.isFinal, let end = row.notification.outcome.endedAt, end < time else { return nil }
            return (end, row.notification.sequence)
        }
        let removed = Set(ended.sorted { $0 < $1 }.prefix(limit).map(\.1))
        for row in rows where removed.contains(row.notification.sequence) {
            if let key = row.notification.idempotency?.key { keys[key] = nil }
        }
        rows.removeAll { removed.contains($0.notification.sequence) }
        return removed.count
    }

    private func index(of sequence: Int64) -> Int? {
        let index = firstIndex(from: sequence)
        return index < rows.count && rows[index].notification.sequence == sequence ? index : nil
    }

    /// The index of the first row with this or a larger sequence.
    private func firstIndex(from sequence: Int64) -> Int {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].notification.sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
