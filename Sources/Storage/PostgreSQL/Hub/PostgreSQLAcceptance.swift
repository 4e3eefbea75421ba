import PushModel

/// The storing of a new notification, which shares a statement with others.
struct PostgreSQLAcceptance: Sendable {
    let row: PostgreSQLNotificationRow
    /// Returns what to do after the commit with the result.
    let settle: @Sendable (Result<AcceptanceResult, any Error>) -> @Sendable () -> Void

    /// Stores notifications within a transaction. Those that conflict with others get their own results, so that they do not spoil the
    /// rest.
    static func perform(_ acceptances: [PostgreSQLAcceptance], on connection: PostgreSQLConnection) throws -> [@Sendable () -> Void] {
        let missing = try missingPlans(of: acceptances.map(\.row), on: connection)
        // Of two with the same number, the first is stored.
        var numbers: Set<Key> = []
        let storable = acceptances.filter { !isBound($0.row, to: missing) && numbers.insert(Key($0.row)).inserted }
        var stored = try insert(storable.map(\.row), on: connection)
        return try acceptances.map { acceptance in
            let row = acceptance.row
            let key = Key(row)
            if !isBound(row, to: missing), stored.remove(key) != nil { return acceptance.settle(.success(.accepted)) }
            let table = PostgreSQLNotificationTable(hub: row.hub, database: connection)
            if let idempotency = row.notification.idempotency, let known = try table.acceptance(under: idempotency) {
                return acceptance.settle(.success(known))
            }
            if let binding = row.notification.request.plan, isBound(row, to: missing) {
                return acceptance.settle(.failure(PushError.planExpired(binding.id)))
            }
            return acceptance.settle(
                .failure(StorageError.conflict("the notification \(key.sequence) of hub \(key.hub) is stored already")))
        }
    }

    private struct Key: Hashable {
        let hub: Int64
        let sequence: Int64

        init(hub: Int64, sequence: Int64) { (self.hub, self.sequence) = (hub, sequence) }

        init(_ row: PostgreSQLNotificationRow) { self.init(hub: row.hub, sequence: row.notification.sequence) }
    }

    /// The plans that notifications are bound to and that are not stored. From here on, the others are not deleted until their
    /// notifications have ended.
    private static func missingPlans(of rows: [PostgreSQLNotificationRow], on connection: PostgreSQLConnection) throws -> Set<Key> {
        let bound = Set(
            rows.filter { $0.notification.request.plan != nil }.compactMap { row in
                row.plan.map { Key(hub: row.hub, sequence: $0) }
            })
        if bound.isEmpty { return [] }
        let found = try connection.all(
            """
            SELECT plan.hub, plan.number FROM plan JOIN unnest($1, $2) AS wanted (hub, number) USING (hub, number) FOR SHARE OF plan
            """, PostgreSQLArray(bound.map(\.hub)), PostgreSQLArray(bound.map(\.sequence))
        ) { Key(hub: $0.integer(0), sequence: $0.integer(1)) }
        return bound.subtracting(found)
    }

    /// Whether a notification is bound to a plan that is missing.
    private static func isBound(_ row: PostgreSQLNotificationRow, to missing: Set<Key>) -> Bool {
        guard row.notification.request.plan != nil else { return false }
        return row.plan.map { missing.contains(Key(hub: row.hub, sequence: $0)) } ?? true
    }

    /// Inserts rows in the order of their keys, so that two programs that repeat the same sends do not wait for each other. Returns the
    /// keys of those that did not conflict.
    private static func insert(_ rows: [PostgreSQLNotificationRow], on connection: PostgreSQLConnection) throws -> Set<Key> {
        if rows.isEmpty { return [] }
        func order(_ row: PostgreSQLNotificationRow) -> (Int64, String, Int64) {
            (row.hub, row.notification.idempotency?.key ?? "", row.notification.sequence)
        }
        let rows = rows.sorted { order($0) < order($1) }
        func column<Value: PostgreSQLValue>(_ value: (PostgreSQLNotificationRow) -> Value) -> PostgreSQLArray<Value> {
            PostgreSQLArray(rows.map(value))
        }
        let inserted = try connection.returning(
            """
            INSERT INTO notification (hub, sequence, id, request, idempotency_key, fingerprint, state, is_final, tags, enqueued_at,
                started_at, ended_at, scheduled_for, counts, near_misses, remarks, origin, holds, plan)
            SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
            ON CONFLICT DO NOTHING RETURNING hub, sequence
            """, column(\.hub), column(\.notification.sequence), column(\.notification.outcome.id), column(\.request),
            column(\.notification.idempotency?.key), column(\.notification.idempotency?.fingerprint),
            column(\.notification.outcome.state.rawValue), column(\.notification.outcome.state.isFinal),
            column(\.notification.outcome.tags),
            column(\.notification.outcome.enqueuedAt.milliseconds), column(\.notification.outcome.startedAt?.milliseconds),
            column(\.notification.outcome.endedAt?.milliseconds), column(\.notification.outcome.scheduledFor?.milliseconds),
            column(\.columns.counts), column(\.columns.nearMisses), column(\.columns.remarks), column(\.origin), column(\.deferredDevices),
            column(\.plan)
        ) { Key(hub: $0.integer(0), sequence: $0.integer(1)) }
        return Set(inserted)
    }
}
