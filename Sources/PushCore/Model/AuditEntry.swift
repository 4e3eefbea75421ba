import Crypto

/// Somebody's doing, to be told later.
package struct AuditRecord: Sendable, Equatable {
    package enum Outcome: String, Sendable, CaseIterable {
        case succeeded
        /// It was not allowed, or made no sense.
        case refused
        /// It was begun, and did not come to its end.
        case failed
    }

    package var time: Timestamp
    /// Who did it: a key's name, a user, a plugin.
    package var actor: String
    /// What was done: `plugin.install`.
    package var action: String
    /// To what.
    package var subject: String
    /// What else there is to know. No secrets: it is never forgotten.
    package var details: [String: String]
    package var outcome: Outcome

    package init(
        time: Timestamp, actor: String, action: String, subject: String, details: [String: String] = [:], outcome: Outcome = .succeeded
    ) {
        self.time = time
        self.actor = actor
        self.action = action
        self.subject = subject
        self.details = details
        self.outcome = outcome
    }
}

/// A record with its place in the trail.
package struct AuditEntry: Sendable, Equatable {
    /// Counted from 1, without gaps.
    package let sequence: Int64
    package let record: AuditRecord
    /// SHA-256 of the hash before it, 32 zeros before the first one, and the content.
    package let hash: [UInt8]

    /// One that was kept.
    package init(sequence: Int64, record: AuditRecord, hash: [UInt8]) {
        self.sequence = sequence
        self.record = record
        self.hash = hash
    }

    /// One that follows. Throws `audit.too_large` (413).
    package init(_ record: AuditRecord, after end: AuditEnd) throws(PushError) {
        let sequence = end.sequence + 1
        let content = record.content(at: sequence)
        guard content.count <= AuditRecord.largestContent else {
            throw PushError(
                "audit.too_large",
                "the entry for \"\(record.action.prefix(40))\" has \(content.count) bytes; one of the audit trail has at most "
                    + "\(AuditRecord.largestContent)",
                hint: "tell less of the details", status: 413,
                details: ["size": .integer(Int64(content.count)), "limit": .integer(Int64(AuditRecord.largestContent))])
        }
        self.init(sequence: sequence, record: record, hash: end.hash(followedBy: content))
    }

    /// What is hashed, as JSON: an array of the sequence, the time in milliseconds since 1970, actor, action, subject, outcome, and the
    /// details as pairs in the order of their names' bytes. Written as RFC 8785 has it, so that others can check an exported trail.
    package var content: [UInt8] { record.content(at: sequence) }

    var contentJSON: JSON { record.contentJSON(at: sequence) }
}

extension AuditRecord {
    /// In bytes.
    fileprivate static let largestContent = 65_536

    /// Pairs in the order of their names' bytes.
    package var sortedDetails: JSON {
        let pairs = details.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return .array(pairs.map { [.string($0.key), .string($0.value)] })
    }

    fileprivate func content(at sequence: Int64) -> [UInt8] { contentJSON(at: sequence).serialized() }

    fileprivate func contentJSON(at sequence: Int64) -> JSON {
        [
            .integer(sequence), .integer(time.milliseconds), .string(actor), .string(action), .string(subject),
            .string(outcome.rawValue), sortedDetails,
        ]
    }
}

/// How far a trail reaches.
package struct AuditEnd: Sendable, Equatable {
    /// Of the last entry; 0 before the first one.
    package var sequence: Int64
    package var hash: [UInt8]

    package init(sequence: Int64, hash: [UInt8]) {
        self.sequence = sequence
        self.hash = hash
    }

    /// Before the first entry.
    package static let start = AuditEnd(sequence: 0, hash: [UInt8](repeating: 0, count: SHA256.byteCount))

    fileprivate func hash(followedBy content: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: hash + content)) }

    /// Goes on to the next entry; answers what is wrong where it does not follow.
    package mutating func advance(to entry: AuditEntry) -> AuditBreak? {
        guard entry.sequence > sequence else { return AuditBreak(sequence: entry.sequence, reason: .added) }
        guard entry.sequence == sequence + 1 else { return AuditBreak(sequence: sequence + 1, reason: .missing) }
        guard entry.hash == hash(followedBy: entry.content) else { return AuditBreak(sequence: entry.sequence, reason: .changed) }
        self = AuditEnd(sequence: entry.sequence, hash: entry.hash)
        return nil
    }

    /// Whether what was gone along ends where it was last appended to.
    package func verification(against kept: AuditEnd) -> AuditVerification {
        if sequence < kept.sequence { return .broken(AuditBreak(sequence: sequence + 1, reason: .missing)) }
        if sequence > kept.sequence { return .broken(AuditBreak(sequence: kept.sequence + 1, reason: .added)) }
        return hash == kept.hash ? .whole(self) : .broken(AuditBreak(sequence: sequence, reason: .changed))
    }
}
