/// A stored row of a hub that is unreadable.
package struct UnreadableRow: Sendable, Equatable {
    package enum Table: Sendable { case registrations, installations, tombstones, heldRemovals }

    package var table: Table
    /// Nil if the row number itself is invalid, and for tables without row numbers: tombstones and held removals.
    package var row: UInt32?
    /// Which row it is, and what is wrong with it.
    package var reason: String

    package init(table: Table, row: UInt32?, reason: String) {
        self.table = table
        self.row = row
        self.reason = reason
    }
}
