package import PushModel

/// An audit trail in memory.
package actor MemoryAuditTrail: AuditTrail {
    private var entries: [AuditEntry] = []
    private var end = AuditHead.start

    package init() {}

    package func append(_ record: AuditRecord) throws(PushError) -> AuditEntry {
        let entry = try AuditEntry(record, after: end)
        entries.append(entry)
        end = AuditHead(sequence: entry.sequence, hash: entry.hash)
        return entry
    }

    package func entries(after sequence: Int64, limit: Int, _ filter: AuditFilter) -> [AuditEntry] {
        Array(entries.lazy.filter { $0.sequence > sequence && filter.lets($0.record) }.prefix(limit))
    }

    package func entries(before sequence: Int64?, limit: Int, _ filter: AuditFilter) -> [AuditEntry] {
        Array(entries.lazy.reversed().filter { $0.sequence < sequence ?? .max && filter.lets($0.record) }.prefix(limit))
    }

    package func verify() -> AuditVerification {
        var position = AuditHead.start
        for entry in entries {
            if let flaw = position.advance(to: entry) { return .broken(flaw) }
        }
        return position.verification(against: end)
    }
}
