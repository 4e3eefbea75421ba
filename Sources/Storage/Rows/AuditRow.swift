import PushModel

/// A stored entry of the audit trail.
enum AuditRow {
    static let columns = "sequence, time, actor, action, subject, details, outcome, hash"

    static func entry(_ row: some SQLRow) throws -> AuditEntry {
        try reading("the entry \(row.integer(0)) of the audit trail") {
            let details = try row.json(5).storedArray().map { try $0.storedPair() }
            return AuditEntry(
                sequence: row.integer(0),
                record: AuditRecord(
                    time: row.time(1), actor: row.text(2), action: row.text(3), subject: row.text(4),
                    details: Dictionary(details) { $1 }, outcome: try AuditRecord.Outcome(stored: row.text(6))),
                hash: row.bytes(7))
        }
    }
}
