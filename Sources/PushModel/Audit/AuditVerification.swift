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
}

package enum AuditVerification: Sendable, Equatable {
    /// Every entry follows from the previous one. Comparing this head with one recorded elsewhere detects a chain that was replaced as a
    /// whole.
    case intact(AuditHead)
    case broken(AuditBreak)
}
