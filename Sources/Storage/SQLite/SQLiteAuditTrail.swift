import GRDB
import PushModel

/// An audit trail in a database.
struct SQLiteAuditTrail: AuditTrail {
    private static let verificationBatchSize = 1000

    let database: SQLiteDatabase

    func append(_ record: AuditRecord) async throws(PushError) -> AuditEntry {
        try await database.write { database in
            let entry = try AuditEntry(record, after: try Self.end(in: database))
            try database.run(
                "INSERT INTO audit_entry (\(AuditRow.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", entry.sequence, record.time.milliseconds,
                record.actor, record.action, record.subject, record.sortedDetails.text(), record.outcome.rawValue, entry.hash)
            try database.run("UPDATE audit_end SET sequence = ?, hash = ?", entry.sequence, entry.hash)
            return entry
        }
    }

    private static func end(in database: Database) throws -> AuditHead {
        let end = try database.first("SELECT sequence, hash FROM audit_end") { AuditHead(sequence: $0.integer(0), hash: $0.bytes(1)) }
        guard let end else { throw StorageError.corrupt("the end of the audit trail", "its row is missing") }
        return end
    }

    // MARK: - Reading

    func entries(after sequence: Int64, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry] {
        try await database.read { try Self.entries(after: sequence, limit: limit, filter, in: $0) }
    }

    func entries(before sequence: Int64?, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry] {
        try await database.read { try Self.entries(before: sequence, limit: limit, filter, in: $0) }
    }

    static func entries(after sequence: Int64, limit: Int, _ filter: AuditFilter, in database: Database) throws -> [AuditEntry] {
        try database.all(
            "\(selection(filter)) AND sequence > ?3 ORDER BY sequence LIMIT ?4", filter.actor, filter.action, sequence, limit,
            filter.since?.milliseconds, read: AuditRow.entry)
    }

    static func entries(before sequence: Int64?, limit: Int, _ filter: AuditFilter, in database: Database) throws -> [AuditEntry] {
        try database.all(
            "\(selection(filter)) AND sequence < ?3 ORDER BY sequence DESC LIMIT ?4", filter.actor, filter.action, sequence ?? .max,
            limit, filter.since?.milliseconds, read: AuditRow.entry)
    }

    /// Uses a separate statement per kind of filter, so that SQLite uses the index.
    static func selection(_ filter: AuditFilter) -> String {
        let actor = filter.actor == nil ? "?1 IS NULL" : "actor = ?1"
        let action = filter.action == nil ? "?2 IS NULL" : "action = ?2"
        let since = filter.since == nil ? "?5 IS NULL" : "time >= ?5"
        return "SELECT \(AuditRow.columns) FROM audit_entry WHERE \(actor) AND \(action) AND \(since)"
    }

    // MARK: - Verification

    func verify() async throws(PushError) -> AuditVerification {
        var position = AuditHead.start
        while true {
            let (next, verification) = try await database.read { [position] in try Self.verify(from: position, in: $0) }
            if let verification { return verification }
            position = next
        }
    }

    /// Verifies the chain in one consistent snapshot.
    static func verify(in database: Database) throws -> AuditVerification {
        var position = AuditHead.start
        while true {
            let (next, verification) = try verify(from: position, in: database)
            if let verification { return verification }
            position = next
        }
    }

    /// Verifies the next entries of the chain. Returns the position reached and, once known, the result.
    private static func verify(from start: AuditHead, in database: Database) throws -> (AuditHead, AuditVerification?) {
        var (position, count) = (start, 0)
        var flaw: AuditBreak?
        // Starts below the first sequence number, where entries may have been inserted.
        let lowest = start == .start ? .min : start.sequence
        try database.each(
            "SELECT \(AuditRow.columns) FROM audit_entry WHERE sequence > ? ORDER BY sequence LIMIT ?", lowest, verificationBatchSize
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
        let end = try database.first("SELECT sequence, hash FROM audit_end") { AuditHead(sequence: $0.integer(0), hash: $0.bytes(1)) }
        return (
            position, end.map(position.verification(against:)) ?? .broken(AuditBreak(sequence: position.sequence + 1, reason: .endless))
        )
    }
}
