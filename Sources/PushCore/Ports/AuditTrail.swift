/// Where it lies who did what: entries that are added, and never changed or removed. Each is chained to the one before it, so that it
/// shows where somebody has been at them.
///
/// Errors: `storage.unavailable` (503).
package protocol AuditTrail: Sendable {
    /// Adds an entry behind the last one; answers when it is kept. Throws `audit.too_large` (413) for more than 64 KiB.
    func append(_ record: AuditRecord) async throws(PushError) -> AuditEntry
    /// Those that the filter lets through behind a sequence, oldest first; behind 0 are all. Throws `storage.corrupt` (500) for one that
    /// cannot be read.
    func entries(after sequence: Int64, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry]
    /// The same before a sequence, or from the last one on for nil, newest first.
    func entries(before sequence: Int64?, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry]
    /// Goes along the chain from the first entry to the last.
    func verify() async throws(PushError) -> AuditVerification
}

/// Which entries are asked for; nil for all.
package struct AuditFilter: Sendable {
    package var actor: String?
    package var action: String?
    /// Those of that moment or later.
    package var since: Timestamp?

    package init(actor: String? = nil, action: String? = nil, since: Timestamp? = nil) {
        self.actor = actor
        self.action = action
        self.since = since
    }

    /// By the bytes of the texts.
    package func lets(_ record: AuditRecord) -> Bool {
        (actor.map { $0.utf8.elementsEqual(record.actor.utf8) } ?? true)
            && (action.map { $0.utf8.elementsEqual(record.action.utf8) } ?? true) && (since.map { $0 <= record.time } ?? true)
    }
}

package enum AuditVerification: Sendable, Equatable {
    /// Every entry follows from the one before it. Whoever has noted the end elsewhere sees that nobody has made a new chain.
    case whole(AuditEnd)
    case broken(AuditBreak)
}

/// The first place where the chain does not hold.
package struct AuditBreak: Sendable, Equatable {
    package enum Reason: String, Sendable, CaseIterable {
        /// There is no entry of this sequence.
        case missing
        /// What the entry says does not go with its hash and the one before it: it was changed, or the one before it was.
        case changed
        /// The entry cannot be read.
        case unreadable
        /// The entry stands where none was appended.
        case added
        /// The chain holds, and does not go through an end that was noted before.
        case replaced
        /// The chain holds, and nothing says where it ended.
        case endless
    }

    package var sequence: Int64
    package var reason: Reason

    package init(sequence: Int64, reason: Reason) {
        self.sequence = sequence
        self.reason = reason
    }
}
