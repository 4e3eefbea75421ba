import PushModel

/// An audit trail in a database.
struct PostgreSQLAuditTrail: AuditTrail {
    private static let verificationBatchSize = 1000

    let database: PostgreSQLDatabase

    func append(_ record: AuditRecord) async throws(PushError) -> AuditEntry {
        try await database.write { database in
            // Locked until the transaction ends: entries of several programs form one chain.
            let end = try database.first("SELECT sequence, hash FROM audit_end WHERE key = 1 FOR UPDATE", read: Self.head)
            guard let end else { throw StorageError.corrupt("the end of the audit trail", "its row is missing") }
            let entry = try AuditEntry(record, after: end)
            database.later(
                "INSERT INTO audit_entry (\(AuditRow.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", entry.sequence,
                record.time.milliseconds, record.actor, record.action, record.subject, record.sortedDetails.text(),
                record.outcome.rawValue, entry.hash)
            database.later("UPDATE audit_end SET sequence = $1, hash = $2 WHERE key = 1", entry.sequence, entry.hash)
            return entry
        }
    }

    private static func head(_ row: PostgreSQLRow) -> AuditHead { AuditHead(sequence: row.integer(0), hash: row.bytes(1)) }

    // MARK: - Reading

    func entries(after sequence: Int64, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry] {
        try await entries("\(Self.selection(filter)) AND sequence > $3 ORDER BY sequence LIMIT $4", sequence, limit, filter)
    }

    func entries(before sequence: Int64?, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry] {
        try await entries("\(Self.selection(filter)) AND sequence < $3 ORDER BY sequence DESC LIMIT $4", sequence ?? .max, limit, filter)
    }

    private func entries(_ sql: String, _ sequence: Int64, _ limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry] {
        try await database.read {
            try $0.all(sql, filter.actor, filter.action, sequence, limit, filter.since?.milliseconds, read: AuditRow.entry)
        }
    }

    /// Has a separate statement per kind of filter, so that the database uses the index.
    private static func selection(_ filter: AuditFilter) -> String {
        let actor = filter.actor == nil ? "$1 IS NULL" : "md5(actor) = md5($1) AND actor = $1"
        let action = filter.action == nil ? "$2 IS NULL" : "md5(action) = md5($2) AND action = $2"
        let since = filter.since == nil ? "$5 IS NULL" : "time >= $5"
        return "SELECT \(AuditRow.columns) FROM audit_entry WHERE \(actor) AND \(action) AND \(since)"
    }

    // MARK: - Verification

    func verify() async throws(PushError) -> AuditVerification {
        var position = AuditHead.start
        while true {
            let (next, verification) = try await database.snapshot { [position] in try Self.verify(from: position, in: $0) }
            if let verification { return verification }
            position = next
        }
    }

    /// Verifies the next entries of the chain. Returns the position reached and, once known, the result.
    private static func verify(from start: AuditHead, in database: PostgreSQLConnection) throws -> (AuditHead, AuditVerification?) {
        var (position, count) = (start, 0)
        var flaw: AuditBreak?
        // Starts below the first sequence number, where entries may have been inserted.
        let lowest = start == .start ? .min : start.sequence
        try database.each(
            "SELECT \(AuditRow.columns) FROM audit_entry WHERE sequence > $1 ORDER BY sequence LIMIT $2", lowest, verificationBatchSize
        ) { row in
            count += 1
            guard flaw == nil else { return }
            do {
                flaw = position.advance(to: try AuditRow.entry(row))
            } catch let error as PushError where error.code == "storage.corrupt" {
                flaw = AuditBreak(sequence: row.integer(0), reason: .unreadable)
            }
        }
        if let flaw { return (position, .broken(flaw)) }
        guard count < verificationBatchSize else { return (position, nil) }
        // A missing end counts as tampering, because removed entries could not be detected.
        let end = try database.first("SELECT sequence, hash FROM audit_end WHERE key = 1", read: head)
        return (
            position, end.map(position.verification(against:)) ?? .broken(AuditBreak(sequence: position.sequence + 1, reason: .endless))
        )
    }
}
