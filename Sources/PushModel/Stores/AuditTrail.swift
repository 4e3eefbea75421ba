/// Stores the audit log. Entries are appended and never changed or removed. Each is chained to the previous one, so that later changes are
/// detected.
///
/// Errors: `storage.unavailable` (503).
package protocol AuditTrail: Sendable {
    /// Appends an entry and returns once it is stored. Throws `audit.too_large` (413) for more than 64 KiB.
    func append(_ record: AuditRecord) async throws(PushError) -> AuditEntry
    /// Entries after a sequence that match the filter, oldest first; after 0 are all. Throws `storage.corrupt` (500) for an unreadable
    /// entry.
    func entries(after sequence: Int64, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry]
    /// Entries before a sequence, or from the last if nil, that match the filter; newest first.
    func entries(before sequence: Int64?, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry]
    /// Checks the chain from the first entry to the last.
    func verify() async throws(PushError) -> AuditVerification
}

extension AuditTrail {
    /// Verifies the chain and checks that it contains a chain head recorded earlier. A writer with access to the database can replace the
    /// whole chain; only this check detects that.
    package func verify(against recorded: AuditHead?) async throws(PushError) -> AuditVerification {
        let verification = try await verify()
        guard case .intact(let end) = verification, let recorded else { return verification }
        if recorded.sequence > end.sequence { return .broken(AuditBreak(sequence: end.sequence + 1, reason: .missing)) }
        if recorded.sequence == end.sequence { return verification.noting(end.hash == recorded.hash, recorded.sequence) }
        guard recorded.sequence > 0 else { return verification.noting(recorded == .start, 0) }
        let found = try await entries(after: recorded.sequence - 1, limit: 1, AuditFilter()).first
        return verification.noting(found?.sequence == recorded.sequence && found?.hash == recorded.hash, recorded.sequence)
    }
}

extension AuditVerification {
    fileprivate func noting(_ isSame: Bool, _ sequence: Int64) -> AuditVerification {
        isSame ? self : .broken(AuditBreak(sequence: sequence, reason: .replaced))
    }
}
