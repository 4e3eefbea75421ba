/// The removal of a registration from its row.
package struct RemovedRegistration: Sendable, Equatable {
    package var place: UInt32
    package var id: RegistrationID
    package var departure: RegistrationDeparture

    package init(place: UInt32, id: RegistrationID, departure: RegistrationDeparture) {
        self.place = place
        self.id = id
        self.departure = departure
    }
}
