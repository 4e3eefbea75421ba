import PushModel

/// A stored notification. Its first column is its key, or its sequence where the hub has a column of its own.
enum NotificationRow {
    /// The columns after the first one.
    static let columns = """
        id, request, idempotency_key, fingerprint, state, tags, enqueued_at, started_at, ended_at, scheduled_for, counts, near_misses, hub,
        remarks, origin, holds
        """

    static func notification(_ row: some SQLRow) throws -> StoredNotification {
        let sequence = NotificationKey(stored: row.integer(0)).sequence
        return try reading("the notification \(sequence) of hub \(row.integer(13))", details: ["sequence": .integer(sequence)]) {
            var outcome = NotificationOutcome(
                id: row.text(1), state: try NotificationOutcome.State(stored: row.text(5)), tags: row.optional(6, row.text),
                times: NotificationTimes(
                    enqueuedAt: row.time(7), scheduledFor: row.optional(10, row.time), startedAt: row.optional(8, row.time),
                    endedAt: row.optional(9, row.time)))
            try OutcomeColumns.read(counts: 11, nearMisses: 12, remarks: 14, of: row, into: &outcome)
            var deferredDevices = DeferredDevices()
            if !row.isNull(16) {
                guard let stored = DeferredDevices(stored: row.bytes(16)) else {
                    throw UnreadableValue(reason: "its deferred devices are unreadable")
                }
                deferredDevices = stored
            }
            return StoredNotification(
                sequence: sequence, request: try NotificationRequest(stored: row.json(2)),
                idempotency: row.optional(3) { IdempotencyKey(key: row.text($0), fingerprint: row.bytes(4)) }, outcome: outcome,
                origin: row.isNull(15) ? [] : try row.json(15).storedArray().map { try $0.storedText() }, deferredDevices: deferredDevices)
        }
    }

    /// Nil if there is none.
    static func origin(of notification: StoredNotification) -> String? {
        notification.origin.isEmpty ? nil : JSON.array(notification.origin.map { .string($0) }).text()
    }
}
