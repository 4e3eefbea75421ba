/// A number that distinguishes the database of one data folder from those of others. It is in the header of the file, so copies and
/// backups have the same one.
package struct DatabaseIdentity: Sendable, Hashable {
    /// SQLite's `user_version`, which is 0 in a database without an identity.
    let number: Int32

    init?(number: Int64) {
        guard number != 0, let number = Int32(exactly: number) else { return nil }
        self.number = number
    }

    package init(random: UInt64) { number = max(Int32(truncatingIfNeeded: random >> 33), 1) }

    /// Parses the output of `text`.
    package init?(text: String) {
        guard let number = UInt32(text, radix: 16), number != 0 else { return nil }
        self.number = Int32(bitPattern: number)
    }

    package var text: String { String(UInt32(bitPattern: number), radix: 16) }
}

/// The record of a data folder about its database.
package struct DatabaseMark: Sendable, Equatable {
    /// Nil if unknown.
    package var identity: DatabaseIdentity?
    /// Whether a server has used the folder. If so, a missing or empty database means data loss.
    package var isUsed: Bool
    /// Path of the file that records that the database was opened and not closed, so that its log must exist. Nil if it was closed, or if
    /// nothing is known about that.
    package var unclosed: String?
    /// Paths of the files that show that a server has used the folder, if nothing else records it. Removing them makes the folder new.
    package var signs: [String]

    /// Whether a missing or empty database means data loss. A server that did not close its database had one.
    var hadDatabase: Bool { isUsed || unclosed != nil }

    package init(identity: DatabaseIdentity? = nil, isUsed: Bool = false, unclosed: String? = nil, signs: [String] = []) {
        (self.identity, self.isUsed, self.unclosed, self.signs) = (identity, isUsed, unclosed, signs)
    }
}

/// Result of examining the files of a database before it is opened.
package enum DatabaseFinding: Sendable, Equatable {
    /// There is no database and no sign that there was one.
    case absent
    /// There is a database. Its identity is nil if it has none yet.
    case present(DatabaseIdentity?)
}
