import PushModel

/// The notifications of a hub in a database.
struct PostgreSQLNotificationTable {
    let hub: Int64
    let database: PostgreSQLConnection

    /// The kind of the counter with the largest sequence among the deleted notifications of a hub.
    private static let forgotten = "deleted notification"
    private static let columns = "sequence, \(NotificationRow.columns)"

    // MARK: - Outbox

    func acceptance(under key: IdempotencyKey) throws -> AcceptanceResult? {
        let first = try database.first(
            "SELECT \(Self.columns) FROM notification WHERE hub = $1 AND idempotency_key = $2", hub, key.key,
            read: NotificationRow.notification)
        return first.map { AcceptanceResult(key, of: $0) }
    }

    func unfinished(after sequence: Int64, limit: Int) throws -> [StoredNotification] {
        try database.all(
            "SELECT \(Self.columns) FROM notification WHERE hub = $1 AND NOT is_final AND sequence > $2 ORDER BY sequence LIMIT $3", hub,
            sequence, limit, read: NotificationRow.notification)
    }

    func unfinished(_ sequences: [Int64]) throws -> [StoredNotification] {
        try database.all(
            "SELECT \(Self.columns) FROM notification WHERE hub = $1 AND sequence = ANY($2) AND NOT is_final ORDER BY sequence", hub,
            PostgreSQLArray(sequences), read: NotificationRow.notification)
    }

    /// The progress of a notification in its stored form. Encoded before the transaction begins.
    final class ProgressRow: Sendable {
        fileprivate let sequence: Int64
        fileprivate let outcome: NotificationOutcome
        fileprivate let devices: [OutcomeRows]
        fileprivate let columns: OutcomeColumns
        fileprivate let deferredDevices: [UInt8]?
        fileprivate let lastOutcomes: [UInt32: UInt8]

        init(_ progress: NotificationProgress) {
            sequence = progress.sequence
            outcome = progress.outcome
            devices = OutcomeRows.rows(for: progress.devices)
            columns = OutcomeColumns(progress.outcome)
            lastOutcomes = Dictionary(progress.lastOutcomes.map { ($0.key, $0.value.storedCode) }) { $1 }
            deferredDevices = progress.deferredDevices?.stored
        }

        /// Approximate number of bytes.
        var size: Int { devices.reduce(deferredDevices?.count ?? 0) { $0 + $1.content.count } }
    }

    func record(_ row: ProgressRow) throws {
        let (outcome, deferredDevices) = (row.outcome, row.deferredDevices)
        let changed = try database.run(
            """
            UPDATE notification SET state = $3, is_final = $4, tags = $5, enqueued_at = $6, started_at = $7, ended_at = $8,
                scheduled_for = $9, counts = $10, near_misses = $11, remarks = $12, holds = CASE WHEN $13 THEN $14 ELSE holds END
            WHERE hub = $1 AND sequence = $2
            """, hub, row.sequence, outcome.state.rawValue, outcome.state.isFinal, outcome.tags, outcome.enqueuedAt.milliseconds,
            outcome.startedAt?.milliseconds, outcome.endedAt?.milliseconds, outcome.scheduledFor?.milliseconds, row.columns.counts,
            row.columns.nearMisses, row.columns.remarks, deferredDevices != nil || outcome.state.isFinal,
            outcome.state.isFinal || deferredDevices?.isEmpty != false ? nil : deferredDevices)
        // The notification may have been deleted in the meantime.
        if changed > 0 { try PostgreSQLOutcomeTable(hub: hub, database: database).append(row.devices, to: row.sequence) }
        try PostgreSQLLastOutcomes(hub: hub, database: database).set(row.lastOutcomes)
    }

    // MARK: - History

    func notification(_ sequence: Int64) throws -> StoredNotification? {
        try database.first(
            "SELECT \(Self.columns) FROM notification WHERE hub = $1 AND sequence = $2", hub, sequence, read: NotificationRow.notification)
    }

    func notifications(before sequence: Int64?, limit: Int) throws -> [StoredNotification] {
        try database.all(
            "SELECT \(Self.columns) FROM notification WHERE hub = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3", hub,
            sequence ?? .max, limit, read: NotificationRow.notification)
    }

    /// Sequences of notifications that ended before a time, oldest first.
    func ended(before time: Timestamp, limit: Int) throws -> [Int64] {
        try database.all(
            "SELECT sequence FROM notification WHERE hub = $1 AND is_final AND ended_at < $2 ORDER BY ended_at, sequence LIMIT $3", hub,
            time.milliseconds, limit
        ) { $0.integer(0) }
    }

    /// Removes notifications whose devices have been removed. Their sequences are not used again.
    func remove(_ sequences: [Int64]) throws {
        try database.keep(try lastSequence(), Self.forgotten, hub: hub)
        try database.run("DELETE FROM notification WHERE hub = $1 AND sequence = ANY($2)", hub, PostgreSQLArray(sequences))
    }

    /// The largest sequence that a notification ever had; 0 if there never was one.
    func lastSequence() throws -> Int64 {
        let stored = try database.first("SELECT sequence FROM notification WHERE hub = $1 ORDER BY sequence DESC LIMIT 1", hub) {
            $0.integer(0)
        }
        return max(stored ?? 0, try database.last(Self.forgotten, hub: hub))
    }
}
