import GRDB
import PushModel

/// The notifications of a hub in a database.
struct SQLiteNotificationTable {
    let hub: Int64
    let database: Database

    // MARK: - Outbox

    /// A new notification in its stored form. Encoded before the write transaction begins, to keep that short. A class, because tasks and
    /// closures pass it on and copies of its many values are expensive.
    final class NewRow: Sendable {
        fileprivate let notification: StoredNotification
        fileprivate let key: Int64
        fileprivate let request: String
        fileprivate let columns: OutcomeColumns
        fileprivate let origin: String?
        fileprivate let deferredDevices: [UInt8]?

        init(_ notification: StoredNotification, hub: Int64) throws(PushError) {
            self.notification = notification
            key = try NotificationKey(hub: hub, sequence: notification.sequence).stored
            request = notification.request.storedJSON.text()
            columns = OutcomeColumns(notification.outcome)
            origin = NotificationRow.origin(of: notification)
            deferredDevices = notification.deferredDevices.isEmpty ? nil : notification.deferredDevices.stored
        }
    }

    func accept(_ row: NewRow) throws -> AcceptanceResult {
        let notification = row.notification
        if let idempotency = notification.idempotency, let known = try acceptance(under: idempotency) { return known }
        let plan = notification.request.planNumber.map { NotificationKey(hub: hub, upTo: $0).stored }
        if let binding = notification.request.plan {
            // From here on, the plan is not deleted until the notification has ended.
            let isThere = try plan.flatMap { try database.first("SELECT 1 FROM plan WHERE key = ?", $0) { _ in true } } ?? false
            guard isThere else { throw PushError.planExpired(binding.id) }
        }
        let outcome = notification.outcome
        try database.run(
            """
            INSERT INTO notification (key, hub, id, request, idempotency_key, fingerprint, state, is_final, tags,
                enqueued_at, started_at, ended_at, scheduled_for, counts, near_misses, remarks, origin, holds, plan)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, row.key, hub, outcome.id, row.request, notification.idempotency?.key,
            notification.idempotency?.fingerprint, outcome.state.rawValue, outcome.state.isFinal, outcome.tags,
            outcome.enqueuedAt.milliseconds, outcome.startedAt?.milliseconds, outcome.endedAt?.milliseconds,
            outcome.scheduledFor?.milliseconds, row.columns.counts, row.columns.nearMisses, row.columns.remarks,
            row.origin, row.deferredDevices, plan)
        return .accepted
    }

    func acceptance(under key: IdempotencyKey) throws -> AcceptanceResult? {
        let first = try database.first(
            "SELECT key, \(NotificationRow.columns) FROM notification WHERE hub = ? AND idempotency_key = ?", hub, key.key,
            read: NotificationRow.notification)
        return first.map { AcceptanceResult(key, of: $0) }
    }

    func unfinished(after sequence: Int64, limit: Int) throws -> [StoredNotification] {
        try database.all(
            """
            SELECT key, \(NotificationRow.columns) FROM notification WHERE hub = ? AND is_final = 0 AND key > ? ORDER BY key LIMIT ?
            """, hub, NotificationKey(hub: hub, upTo: sequence).stored, limit, read: NotificationRow.notification)
    }

    func unfinished(_ sequences: [Int64]) throws -> [StoredNotification] {
        try sequences.sorted().compactMap { sequence in
            try database.first(
                "SELECT key, \(NotificationRow.columns) FROM notification WHERE key = ? AND is_final = 0",
                NotificationKey(hub: hub, upTo: sequence).stored, read: NotificationRow.notification)
        }
    }

    /// The progress of a notification in its stored form, like ``NewRow``.
    final class ProgressRow: Sendable {
        fileprivate let outcome: NotificationOutcome
        fileprivate let key: NotificationKey
        fileprivate let devices: [OutcomeRows]
        fileprivate let columns: OutcomeColumns
        fileprivate let deferredDevices: [UInt8]?
        /// Sorted by row.
        fileprivate let lastOutcomes: [(rowNumber: UInt32, code: UInt8)]

        init(_ progress: NotificationProgress, hub: Int64) {
            outcome = progress.outcome
            key = NotificationKey(hub: hub, upTo: progress.sequence)
            devices = OutcomeRows.rows(for: progress.devices)
            columns = OutcomeColumns(progress.outcome)
            lastOutcomes = progress.lastOutcomes.map { (rowNumber: $0.key, code: $0.value.storedCode) }.sorted {
                $0.rowNumber < $1.rowNumber
            }
            deferredDevices = progress.deferredDevices?.stored
        }

        /// Approximate number of bytes.
        var size: Int { devices.reduce(deferredDevices?.count ?? 0) { $0 + $1.content.count } }
    }

    func record(_ row: ProgressRow) throws {
        let (outcome, deferredDevices) = (row.outcome, row.deferredDevices)
        let before = database.totalChangesCount
        try database.run(
            """
            UPDATE notification SET state = ?, is_final = ?, tags = ?, enqueued_at = ?, started_at = ?, ended_at = ?,
                scheduled_for = ?, counts = ?, near_misses = ?, remarks = ?,
                holds = CASE WHEN ? THEN ? ELSE holds END
            WHERE key = ?
            """, outcome.state.rawValue, outcome.state.isFinal, outcome.tags, outcome.enqueuedAt.milliseconds,
            outcome.startedAt?.milliseconds, outcome.endedAt?.milliseconds, outcome.scheduledFor?.milliseconds,
            row.columns.counts, row.columns.nearMisses, row.columns.remarks, deferredDevices != nil || outcome.state.isFinal,
            outcome.state.isFinal || deferredDevices?.isEmpty != false ? nil : deferredDevices, row.key.stored)
        // The notification may have been deleted in the meantime.
        if database.totalChangesCount > before {
            try SQLiteOutcomeTable(hub: hub, database: database).append(row.devices, to: row.key)
        }
        try LastOutcomes.set(row.lastOutcomes, hub: hub, in: database)
    }

    // MARK: - History

    func notification(_ sequence: Int64) throws -> StoredNotification? {
        try database.first(
            "SELECT key, \(NotificationRow.columns) FROM notification WHERE key = ?", NotificationKey(hub: hub, upTo: sequence).stored,
            read: NotificationRow.notification)
    }

    func notifications(before sequence: Int64?, limit: Int) throws -> [StoredNotification] {
        try database.all(
            "SELECT key, \(NotificationRow.columns) FROM notification WHERE key > ? AND key < ? ORDER BY key DESC LIMIT ?",
            NotificationKey(hub: hub, upTo: 0).stored, NotificationKey(hub: hub, upTo: sequence ?? .max).stored, limit,
            read: NotificationRow.notification)
    }

    /// Keys of notifications that ended before a time, oldest first.
    func ended(before time: Timestamp, limit: Int) throws -> [NotificationKey] {
        try database.all(
            """
            SELECT key FROM notification WHERE hub = ? AND is_final = 1 AND ended_at < ? ORDER BY ended_at, key LIMIT ?
            """, hub, time.milliseconds, limit
        ) { NotificationKey(stored: $0.integer(0)) }
    }

    /// Removes notifications whose devices have been removed. Their sequences are not used again.
    func remove(_ keys: [NotificationKey]) throws {
        try database.run(
            "INSERT INTO sequence (hub, last) VALUES (?, ?) ON CONFLICT (hub) DO UPDATE SET last = max(last, excluded.last)", hub,
            try lastSequence())
        for key in keys { try database.run("DELETE FROM notification WHERE key = ?", key.stored) }
    }

    /// The largest sequence that a notification ever had; 0 if there never was one.
    func lastSequence() throws -> Int64 {
        let stored = try database.first(
            "SELECT key FROM notification WHERE key > ? AND key < ? ORDER BY key DESC LIMIT 1",
            NotificationKey(hub: hub, upTo: 0).stored, NotificationKey(hub: hub, upTo: .max).stored
        ) { NotificationKey(stored: $0.integer(0)).sequence }
        let forgotten = try database.first("SELECT last FROM sequence WHERE hub = ?", hub) { $0.integer(0) }
        return max(stored ?? 0, forgotten ?? 0)
    }
}
