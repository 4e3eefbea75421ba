/// The removal of a registration from its row.
package struct RemovedRegistration: Sendable, Equatable {
    package var row: UInt32
    package var id: RegistrationID
    package var tombstone: RegistrationTombstone

    package init(row: UInt32, id: RegistrationID, tombstone: RegistrationTombstone) {
        self.row = row
        self.id = id
        self.tombstone = tombstone
    }
}
