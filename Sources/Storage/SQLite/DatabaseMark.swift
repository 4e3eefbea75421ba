/// A number that tells the database of one data folder from those of others. It stands in the header of the file, so that a copy or a
/// backup of the database has the same one.
package struct DatabaseIdentity: Sendable, Hashable {
    /// The "user version" of the file, which is 0 in a database without an identity.
    let number: Int32

    init?(number: Int64) {
        guard number != 0, let number = Int32(exactly: number) else { return nil }
        self.number = number
    }

    package init(random: UInt64) { number = max(Int32(truncatingIfNeeded: random >> 33), 1) }

    /// Reads what `text` shows.
    package init?(text: String) {
        guard let number = UInt32(text, radix: 16), number != 0 else { return nil }
        self.number = Int32(bitPattern: number)
    }

    package var text: String { String(UInt32(bitPattern: number), radix: 16) }
}

/// What a data folder records about its database.
package struct DatabaseMark: Sendable, Equatable {
    /// Nil where it is not known.
    package var identity: DatabaseIdentity?
    /// Whether a server has used the folder. Then a missing or empty database is a lost one.
    package var isUsed: Bool

    package init(identity: DatabaseIdentity? = nil, isUsed: Bool = false) { (self.identity, self.isUsed) = (identity, isUsed) }
}

/// What the files of a database show before it is opened.
package enum DatabaseFinding: Sendable, Equatable {
    /// There is no database, and nothing says that there was one.
    case absent
    /// A database; its identity is nil where it has none yet.
    case present(DatabaseIdentity?)
}
