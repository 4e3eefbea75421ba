import PushModel

/// The results of a hub's notifications for each device in a database: a row for each step of a notification's progress.
struct PostgreSQLOutcomeTable {
    let hub: Int64
    let database: PostgreSQLConnection

    // MARK: - Reading

    func devices(ofNotification sequence: Int64, from start: Int, limit: Int) throws -> [DeviceOutcome] {
        var found: [DeviceOutcome] = []
        while found.count < limit, let (first, batch) = try batch(of: sequence, at: start + found.count) {
            found += batch.dropFirst(start + found.count - first).prefix(limit - found.count)
        }
        return found
    }

    /// The batch that contains a device, and the ordinal of its first device; nil if there is no such device.
    private func batch(of sequence: Int64, at ordinal: Int) throws -> (first: Int, batch: OutcomeBatch)? {
        let found = try database.first(
            """
            SELECT first, count, content FROM outcome_batch WHERE hub = $1 AND notification = $2 AND first BETWEEN 0 AND $3
            ORDER BY first DESC LIMIT 1
            """, hub, sequence, ordinal
        ) { row -> (first: Int, batch: OutcomeBatch)? in
            let (first, count) = (Int(row.integer(0)), Int(row.integer(1)))
            guard ordinal - first < count else { return nil }
            let batch = try reading(name(first, sequence)) {
                let batch = try OutcomeBatchCodec.batch(of: row.bytes(2))
                guard batch.count == count else { throw UnreadableValue(reason: "it has \(batch.count) of \(count) devices") }
                return batch
            }
            return (first, batch)
        }
        return found ?? nil
    }

    private func name(_ first: some BinaryInteger, _ sequence: Int64) -> String {
        "the devices from \(first) on of notification \(sequence) of hub \(hub)"
    }

    /// Batches of a notification, each with the ordinal of its first device.
    ///
    /// - Parameters:
    ///   - first: smallest ordinal of a first device.
    ///   - isIncluded: decides by the content of a batch whether it is decoded.
    func batches(
        ofNotification sequence: Int64, from first: Int64, limit: Int, where isIncluded: ([UInt8]) -> Bool
    ) throws -> [(first: Int64, batch: OutcomeBatch?)] {
        try database.all(
            """
            SELECT first, content FROM outcome_batch WHERE hub = $1 AND notification = $2 AND first >= $3 ORDER BY first LIMIT $4
            """, hub, sequence, first, limit
        ) { row -> (first: Int64, batch: OutcomeBatch?) in
            let (first, content) = (row.integer(0), row.bytes(1))
            guard isIncluded(content) else { return (first, nil) }
            return (first, try reading(name(first, sequence)) { try OutcomeBatchCodec.batch(of: content) })
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
            FROM dead_batch JOIN notification ON notification.hub = dead_batch.hub AND notification.sequence = dead_batch.notification
            WHERE dead_batch.hub = $1 AND (dead_batch.notification, first) < ($2, $3)
            ORDER BY dead_batch.notification DESC, first DESC LIMIT 1
            """, hub, position.sequence, position.ordinal
        ) { row in
            try reading("the removed devices from \(row.integer(1)) on of notification \(row.integer(0)) of hub \(hub)") {
                try RemovedBatch(
                    position: RemovedDevice.Position(sequence: row.integer(0), ordinal: row.integer(1)), ordinals: row.bytes(2),
                    devices: OutcomeBatchCodec.batch(of: row.bytes(3)), notificationID: row.text(4), time: row.time(5))
            }
        }
    }

    // MARK: - Changes

    func append(_ rows: [OutcomeRows], to sequence: Int64) throws {
        guard !rows.isEmpty else { return }
        let end = try database.first(
            "SELECT first + count FROM outcome_batch WHERE hub = $1 AND notification = $2 ORDER BY first DESC LIMIT 1", hub, sequence
        ) { Int($0.integer(0)) }
        var first = end ?? 0
        for row in rows {
            database.later(
                "INSERT INTO outcome_batch (hub, notification, first, count, content) VALUES ($1, $2, $3, $4, $5)", hub, sequence, first,
                row.count, row.content)
            if let removed = row.removed(from: first) {
                database.later(
                    "INSERT INTO dead_batch (hub, notification, first, ordinals, content) VALUES ($1, $2, $3, $4, $5)", hub, sequence,
                    removed.first, removed.ordinals, removed.content)
            }
            first += row.count
        }
    }

    /// Removes some devices of an ended notification, few enough that other changes need not wait long. Returns whether there may be more.
    func removeSome(of sequence: Int64) throws -> Bool {
        let step = 8
        for table in ["outcome_batch", "dead_batch"] {
            let removed = try database.run(
                """
                DELETE FROM \(table) WHERE hub = $1 AND notification = $2
                    AND first IN (SELECT first FROM \(table) WHERE hub = $1 AND notification = $2 ORDER BY first LIMIT $3)
                """, hub, sequence, step)
            if removed == step { return true }
        }
        return false
    }
}
