import GRDB
import PushModel

extension SQLiteHubStore: NotificationStore {
    func accept(_ notification: StoredNotification) async throws(PushError) -> AcceptanceResult {
        // Encode before the write transaction begins, to keep it short.
        let key = try NotificationKey(hub: hub, sequence: notification.sequence).stored
        let request = notification.request.storedJSON.text()
        let counts = notification.outcome.storedCounts?.text()
        let nearMisses = notification.outcome.storedNearMisses?.text()
        let remarks = notification.outcome.storedRemarks?.text()
        let origin = notification.origin.isEmpty ? nil : JSON.array(notification.origin.map { .string($0) }).text()
        let holds = notification.holds.isEmpty ? nil : notification.holds.stored
        return try await database.write { [hub] database in
            if let idempotency = notification.idempotency, let known = try Self.acceptance(under: idempotency, hub, database) {
                return known
            }
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
                """, key, hub, outcome.id, request, notification.idempotency?.key,
                notification.idempotency?.fingerprint, outcome.state.rawValue, outcome.state.isFinal, outcome.tags,
                outcome.enqueuedAt.milliseconds, outcome.startedAt?.milliseconds, outcome.endedAt?.milliseconds,
                outcome.scheduledFor?.milliseconds, counts, nearMisses, remarks, origin, holds, plan)
            return .accepted
        }
    }

    func acceptance(under key: IdempotencyKey) async throws(PushError) -> AcceptanceResult? {
        try await database.read { [hub] database in try Self.acceptance(under: key, hub, database) }
    }

    private static func acceptance(under key: IdempotencyKey, _ hub: Int64, _ database: Database) throws -> AcceptanceResult? {
        let first = try database.first(
            "SELECT \(columns) FROM notification WHERE hub = ? AND idempotency_key = ?", hub, key.key, read: notification)
        return first.map { AcceptanceResult(key, of: $0) }
    }

    func unfinished(after sequence: Int64, limit: Int) async throws(PushError) -> [StoredNotification] {
        try await database.read { [hub] database in
            try database.all(
                """
                SELECT \(Self.columns) FROM notification WHERE hub = ? AND is_final = 0 AND key > ? ORDER BY key LIMIT ?
                """, hub, NotificationKey(hub: hub, upTo: sequence).stored, limit, read: Self.notification)
        }
    }

    func unfinished(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification] {
        try await database.read { [hub] database in
            try sequences.sorted().compactMap { sequence in
                try database.first(
                    "SELECT \(Self.columns) FROM notification WHERE key = ? AND is_final = 0",
                    NotificationKey(hub: hub, upTo: sequence).stored, read: Self.notification)
            }
        }
    }

    func record(_ progress: NotificationProgress) async throws(PushError) {
        // Encode before the write transaction begins, to keep it short.
        let (key, rows) = (NotificationKey(hub: hub, upTo: progress.sequence), Self.rows(for: progress.devices))
        let counts = progress.outcome.storedCounts?.text()
        let remarks = progress.outcome.storedRemarks?.text()
        let lastOutcomes = progress.lastOutcomes.map { (place: $0.key, code: $0.value.storedCode) }.sorted { $0.place < $1.place }
        let holds = progress.holds?.stored
        try await database.write(size: rows.reduce(holds?.count ?? 0) { $0 + $1.content.count }) { [hub] database in
            let outcome = progress.outcome
            let before = database.totalChangesCount
            try database.run(
                """
                UPDATE notification SET state = ?, is_final = ?, tags = ?, enqueued_at = ?, started_at = ?, ended_at = ?,
                    scheduled_for = ?, counts = ?, near_misses = ?, remarks = ?,
                    holds = CASE WHEN ? THEN ? ELSE holds END
                WHERE key = ?
                """, outcome.state.rawValue, outcome.state.isFinal, outcome.tags, outcome.enqueuedAt.milliseconds,
                outcome.startedAt?.milliseconds, outcome.endedAt?.milliseconds, outcome.scheduledFor?.milliseconds,
                counts, outcome.storedNearMisses?.text(), remarks, holds != nil || outcome.state.isFinal,
                outcome.state.isFinal || holds?.isEmpty != false ? nil : holds, key.stored)
            // The notification may have been deleted in the meantime.
            if database.totalChangesCount > before { try Self.append(rows, to: key, in: database) }
            try LastOutcomes.set(lastOutcomes, hub: hub, in: database)
            try SQLiteRunStore.keep(progress.events, in: database)
        }
    }

    func notification(_ sequence: Int64) async throws(PushError) -> StoredNotification? {
        try await database.read { [hub] database in
            try database.first(
                "SELECT \(Self.columns) FROM notification WHERE key = ?", NotificationKey(hub: hub, upTo: sequence).stored,
                read: Self.notification)
        }
    }

    func notifications(before sequence: Int64?, limit: Int) async throws(PushError) -> [StoredNotification] {
        try await database.read { [hub] database in
            try database.all(
                "SELECT \(Self.columns) FROM notification WHERE key > ? AND key < ? ORDER BY key DESC LIMIT ?",
                NotificationKey(hub: hub, upTo: 0).stored, NotificationKey(hub: hub, upTo: sequence ?? .max).stored, limit,
                read: Self.notification)
        }
    }

    func removeEnded(before moment: Timestamp, limit: Int) async throws(PushError) -> Int {
        let ended = try await database.read { [hub] database in
            try database.all(
                """
                SELECT key FROM notification WHERE hub = ? AND is_final = 1 AND ended_at < ? ORDER BY ended_at, key LIMIT ?
                """, hub, moment.milliseconds, limit
            ) { NotificationKey(stored: $0.integer(0)) }
        }
        // Delete devices first: after a crash, the notification is still there, and deletion is resumed.
        for key in ended {
            while !Task.isCancelled, try await removeDevices(of: key) {}
        }
        guard !ended.isEmpty, !Task.isCancelled else { return 0 }
        return try await database.write { [hub] database in
            try database.run(
                "INSERT INTO sequence (hub, last) VALUES (?, ?) ON CONFLICT (hub) DO UPDATE SET last = max(last, excluded.last)", hub,
                try Self.lastSequence(of: hub, in: database))
            for key in ended { try database.run("DELETE FROM notification WHERE key = ?", key.stored) }
            return ended.count
        }
    }

    static func lastSequence(of hub: Int64, in database: Database) throws -> Int64 {
        let kept = try database.first(
            "SELECT key FROM notification WHERE key > ? AND key < ? ORDER BY key DESC LIMIT 1",
            NotificationKey(hub: hub, upTo: 0).stored, NotificationKey(hub: hub, upTo: .max).stored
        ) { NotificationKey(stored: $0.integer(0)).sequence }
        let forgotten = try database.first("SELECT last FROM sequence WHERE hub = ?", hub) { $0.integer(0) }
        return max(kept ?? 0, forgotten ?? 0)
    }

    // MARK: - Rows

    private static let columns = """
        key, id, request, idempotency_key, fingerprint, state, tags, enqueued_at, started_at, ended_at, scheduled_for, counts,
        near_misses, hub, remarks, origin, holds
        """

    private static func notification(_ row: SQLRow) throws -> StoredNotification {
        let sequence = NotificationKey(stored: row.integer(0)).sequence
        return try reading("the notification \(sequence) of hub \(row.integer(13))", details: ["sequence": .integer(sequence)]) {
            var outcome = NotificationOutcome(
                id: row.text(1), state: try NotificationOutcome.State(stored: row.text(5)), tags: row.optional(6, row.text),
                enqueuedAt: row.time(7), startedAt: row.optional(8, row.time), endedAt: row.optional(9, row.time),
                scheduledFor: row.optional(10, row.time))
            if !row.isNull(11) { try outcome.setCounts(stored: row.json(11)) }
            if !row.isNull(12) { outcome.nearMisses = try row.json(12).storedArray().map { try $0.storedText() } }
            if !row.isNull(14) { try outcome.setRemarks(stored: row.json(14)) }
            var holds = DeferredDevices()
            if !row.isNull(16) {
                guard let stored = DeferredDevices(stored: row.bytes(16)) else {
                    throw UnreadableValue(reason: "its deferred devices are unreadable")
                }
                holds = stored
            }
            return StoredNotification(
                sequence: sequence, request: try NotificationRequest(stored: row.json(2)),
                idempotency: row.optional(3) { IdempotencyKey(key: row.text($0), fingerprint: row.bytes(4)) }, outcome: outcome,
                origin: row.isNull(15) ? [] : try row.json(15).storedArray().map { try $0.storedText() }, holds: holds)
        }
    }
}

extension NotificationOutcome {
    /// Nil if there are none.
    fileprivate var storedNearMisses: JSON? {
        nearMisses.isEmpty ? nil : .array(nearMisses.map { .string($0) })
    }
}
