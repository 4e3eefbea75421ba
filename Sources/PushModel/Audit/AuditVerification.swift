/// The first position at which the chain is broken.
package struct AuditBreak: Sendable, Equatable {
    package enum Reason: String, Sendable, CaseIterable {
        /// No entry has this sequence.
        case missing
        /// The entry does not match its hash: it, its hash or the previous entry was changed.
        case changed
        /// The entry is unreadable.
        case unreadable
        /// The entry was never appended through the server.
        case added
        /// The chain is valid but does not contain a head recorded earlier.
        case replaced
        /// The chain is valid but its head is not stored, so that removed entries at the end would not be detected.
        case endless
    }

    package var sequence: Int64
    package var reason: Reason

    package init(sequence: Int64, reason: Reason) {
        self.sequence = sequence
        self.reason = reason
    }

    /// A sentence that explains the break.
    package var meaning: String {
        switch reason {
        case .missing: "entry \(sequence) is missing: it was removed, or all entries from it on were"
        case .changed: "entry \(sequence) was modified: it, its hash or the previous entry was changed after it was written"
        case .unreadable: "entry \(sequence) cannot be read: it was overwritten or damaged"
        case .added: "entry \(sequence) was never appended by the server: it was inserted into the database"
        case .endless: "the stored head of the log is missing: it was removed, possibly with entry \(sequence) and later ones"
        case .replaced: "entry \(sequence) has a different hash than recorded: the log was rewritten from this entry or an earlier one"
        }
    }
}

package enum AuditVerification: Sendable, Equatable {
    /// Every entry follows from the previous one. Comparing this head with one recorded elsewhere detects a chain that was replaced as a
    /// whole.
    case intact(AuditHead)
    case broken(AuditBreak)
}
