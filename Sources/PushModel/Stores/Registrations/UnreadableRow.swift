/// A stored row of a hub that is unreadable.
package struct UnreadableRow: Sendable, Equatable {
    package enum Table: Sendable { case registrations, installations, departures, heldRemovals }

    package var table: Table
    /// Nil if the row number itself is invalid, and for tables without row numbers: departures and held removals.
    package var place: UInt32?
    /// Which row it is, and what is wrong with it.
    package var reason: String

    package init(table: Table, place: UInt32?, reason: String) {
        self.table = table
        self.place = place
        self.reason = reason
    }
}
