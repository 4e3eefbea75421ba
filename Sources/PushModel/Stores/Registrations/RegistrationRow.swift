/// A registration and its row.
package struct RegistrationRow: Sendable, Equatable {
    package var place: UInt32
    package var registration: Registration

    package init(place: UInt32, registration: Registration) {
        self.place = place
        self.registration = registration
    }
}
