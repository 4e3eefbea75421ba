import Crypto

/// An action to be recorded in the audit log.
package struct AuditRecord: Sendable, Equatable {
    package enum Outcome: String, Sendable, CaseIterable {
        case succeeded
        /// Rejected: not permitted or invalid.
        case refused
        /// Started but not completed.
        case failed
    }

    package var time: Timestamp
    /// The principal that acted: a key's name, a user, a plugin.
    package var actor: String
    /// The action, such as `plugin.install`.
    package var action: String
    /// The object of the action.
    package var subject: String
    /// Further facts. Must not contain secrets: entries are never deleted.
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

/// A record with its position in the audit log.
package struct AuditEntry: Sendable, Equatable {
    /// Starts at 1 and has no gaps.
    package let sequence: Int64
    package let record: AuditRecord
    /// SHA-256 of the previous entry's hash (32 zero bytes for the first entry) followed by the content.
    package let hash: [UInt8]

    /// An entry that was stored.
    package init(sequence: Int64, record: AuditRecord, hash: [UInt8]) {
        self.sequence = sequence
        self.record = record
        self.hash = hash
    }

    /// The entry that follows `end`. Throws `audit.too_large` (413).
    package init(_ record: AuditRecord, after end: AuditHead) throws(PushError) {
        let sequence = end.sequence + 1
        let content = record.content(at: sequence)
        guard content.count <= AuditRecord.maximumContentSize else {
            throw PushError(
                "audit.too_large",
                "the audit entry for \"\(record.action.prefix(40))\" has \(content.count) bytes; the limit is "
                    + "\(AuditRecord.maximumContentSize)",
                hint: "shorten the details", status: 413,
                details: ["size": .integer(Int64(content.count)), "limit": .integer(Int64(AuditRecord.maximumContentSize))])
        }
        self.init(sequence: sequence, record: record, hash: end.hash(followedBy: content))
    }

    /// The hashed bytes: a JSON array of the sequence, the time in milliseconds since 1970, actor, action, subject, outcome, and the
    /// details as pairs in the byte order of their names. Serialized as RFC 8785 requires, so that other programs can verify an exported
    /// log.
    package var content: [UInt8] { record.content(at: sequence) }

    var contentJSON: JSON { record.contentJSON(at: sequence) }
}

extension AuditRecord {
    /// Maximum size of the content, in bytes.
    fileprivate static let maximumContentSize = 65_536

    /// Name and value pairs, in the byte order of their names.
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

/// The head of the chain: the last entry's sequence and hash.
package struct AuditHead: Sendable, Equatable {
    /// The sequence of the last entry; 0 for an empty log.
    package var sequence: Int64
    package var hash: [UInt8]

    package init(sequence: Int64, hash: [UInt8]) {
        self.sequence = sequence
        self.hash = hash
    }

    /// The head of an empty log.
    package static let start = AuditHead(sequence: 0, hash: [UInt8](repeating: 0, count: SHA256.byteCount))

    fileprivate func hash(followedBy content: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: hash + content)) }

    /// Moves to the next entry. Returns what is wrong if the entry does not follow.
    package mutating func advance(to entry: AuditEntry) -> AuditBreak? {
        guard entry.sequence > sequence else { return AuditBreak(sequence: entry.sequence, reason: .added) }
        guard entry.sequence == sequence + 1 else { return AuditBreak(sequence: sequence + 1, reason: .missing) }
        guard entry.hash == hash(followedBy: entry.content) else { return AuditBreak(sequence: entry.sequence, reason: .changed) }
        self = AuditHead(sequence: entry.sequence, hash: entry.hash)
        return nil
    }

    /// Compares the head reached by reading all entries with the stored head.
    package func verification(against stored: AuditHead) -> AuditVerification {
        if sequence < stored.sequence { return .broken(AuditBreak(sequence: sequence + 1, reason: .missing)) }
        if sequence > stored.sequence { return .broken(AuditBreak(sequence: stored.sequence + 1, reason: .added)) }
        return hash == stored.hash ? .intact(self) : .broken(AuditBreak(sequence: sequence, reason: .changed))
    }

    /// The chain head as `SEQUENCE:HASH`, for recording outside the server.
    package var text: String { "\(sequence):\(hash.hexadecimal)" }

    /// Reads `SEQUENCE:HASH`. Throws `audit.noted` (400) for any other text.
    package init(recorded text: String) throws(PushError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let sequence = Int64(parts[0]), sequence >= 0, parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let hash = [UInt8](hexadecimal: parts[1]), hash.count == AuditHead.start.hash.count
        else {
            throw PushError(
                "audit.noted", "invalid audit log head \"\(text.prefix(100))\"",
                hint: "write SEQUENCE:HASH as printed by pushhost audit verify: a number, a colon, 64 hexadecimal digits", status: 400)
        }
        self.init(sequence: sequence, hash: hash)
    }
}
