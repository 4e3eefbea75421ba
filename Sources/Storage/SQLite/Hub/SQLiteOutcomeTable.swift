import GRDB
import PushModel

/// The results of a hub's notifications for each device in a database: a row for each step of a notification's progress.
struct SQLiteOutcomeTable {
    let hub: Int64
    let database: Database

    // MARK: - Reading

    func devices(ofNotification sequence: Int64, from start: Int, limit: Int) throws -> [DeviceOutcome] {
        let key = NotificationKey(hub: hub, upTo: sequence)
        var found: [DeviceOutcome] = []
        while found.count < limit, let (first, batch) = try batch(of: key, at: start + found.count) {
            found += batch.dropFirst(start + found.count - first).prefix(limit - found.count)
        }
        return found
    }

    /// The batch that contains a device, and the ordinal of its first device; nil if there is no such device.
    private func batch(of key: NotificationKey, at ordinal: Int) throws -> (first: Int, batch: OutcomeBatch)? {
        let found = try database.first(
            """
            SELECT first, count, content FROM outcome_batch WHERE notification = ?1 AND first BETWEEN 0 AND ?2 ORDER BY first DESC LIMIT 1
            """, key.stored, ordinal
        ) { row -> (first: Int, batch: OutcomeBatch)? in
            let (first, count) = (Int(row.integer(0)), Int(row.integer(1)))
            guard ordinal - first < count else { return nil }
            let batch = try reading("the devices from \(first) on of \(key.name)") {
                let batch = try OutcomeBatchCodec.batch(of: row.bytes(2))
                guard batch.count == count else { throw UnreadableValue(reason: "it has \(batch.count) of \(count) devices") }
                return batch
            }
            return (first, batch)
        }
        return found ?? nil
    }

    /// Batches of a notification, each with the ordinal of its first device.
    ///
    /// - Parameters:
    ///   - first: smallest ordinal of a first device.
    ///   - isIncluded: decides by the content of a batch whether it is decoded.
    func batches(
        ofNotification sequence: Int64, from first: Int64, limit: Int, where isIncluded: ([UInt8]) -> Bool
    ) throws -> [(first: Int64, batch: OutcomeBatch?)] {
        let key = NotificationKey(hub: hub, upTo: sequence)
        return try database.all(
            """
            SELECT first, content FROM outcome_batch WHERE notification = ?1 AND first >= ?2 ORDER BY first LIMIT ?3
            """, key.stored, first, limit
        ) { row -> (first: Int64, batch: OutcomeBatch?) in
            let (first, content) = (row.integer(0), row.bytes(1))
            guard isIncluded(content) else { return (first, nil) }
            return (first, try reading("the devices from \(first) on of \(key.name)") { try OutcomeBatchCodec.batch(of: content) })
        }
    }

    func removedDevices(after position: RemovedDevice.Position?, limit: Int) throws -> [RemovedDevice] {
        var found: [RemovedDevice] = []
        var position = position ?? RemovedDevice.Position(sequence: .max, ordinal: .max)
        while found.count < limit, let batch = try removedBatch(before: position) {
            found += batch.devices(before: position).prefix(limit - found.count)
            position = batch.position
        }
        return found
    }

    /// The last batch that starts before a position.
    private func removedBatch(before position: RemovedDevice.Position) throws -> RemovedBatch? {
        try database.first(
            """
            SELECT dead_batch.notification, first, ordinals, content, id, coalesce(ended_at, started_at, enqueued_at)
            FROM dead_batch JOIN notification ON notification.key = dead_batch.notification
            WHERE dead_batch.notification > ?1 AND (dead_batch.notification, first) < (?2, ?3)
            ORDER BY dead_batch.notification DESC, first DESC LIMIT 1
            """, NotificationKey(hub: hub, upTo: 0).stored, NotificationKey(hub: hub, upTo: position.sequence).stored, position.ordinal
        ) { row in
            let key = NotificationKey(stored: row.integer(0))
            return try reading("the removed devices from \(row.integer(1)) on of \(key.name)") {
                try RemovedBatch(
                    position: RemovedDevice.Position(sequence: key.sequence, ordinal: row.integer(1)), ordinals: row.bytes(2),
                    devices: OutcomeBatchCodec.batch(of: row.bytes(3)), notificationID: row.text(4), time: row.time(5))
            }
        }
    }

    // MARK: - Changes

    func append(_ rows: [OutcomeRows], to key: NotificationKey) throws {
        guard !rows.isEmpty else { return }
        let end = try database.first(
            "SELECT first + count FROM outcome_batch WHERE notification = ? ORDER BY first DESC LIMIT 1", key.stored
        ) { Int($0.integer(0)) }
        var first = end ?? 0
        for row in rows {
            try insert(row, from: first, of: key)
            first += row.count
        }
    }

    /// - Parameter first: ordinal of the first device within the notification.
    func insert(_ row: OutcomeRows, from first: Int, of key: NotificationKey) throws {
        try database.run(
            "INSERT INTO outcome_batch (notification, first, count, content) VALUES (?, ?, ?, ?)", key.stored, first, row.count,
            row.content)
        guard let removed = row.removed(from: first) else { return }
        try database.run(
            "INSERT INTO dead_batch (notification, first, ordinals, content) VALUES (?, ?, ?, ?)", key.stored, removed.first,
            removed.ordinals, removed.content)
    }

    /// Removes some devices of an ended notification, few enough that other changes need not wait long. Returns whether there may be more.
    func removeSome(of key: NotificationKey) throws -> Bool {
        let step = 8
        for table in ["outcome_batch", "dead_batch"] {
            let before = database.totalChangesCount
            try database.run(
                """
                DELETE FROM \(table) WHERE notification = ?1
                    AND first IN (SELECT first FROM \(table) WHERE notification = ?1 ORDER BY first LIMIT ?2)
                """, key.stored, step)
            if database.totalChangesCount - before == step { return true }
        }
        return false
    }
}
