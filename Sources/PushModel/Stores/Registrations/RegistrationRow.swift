/// A registration and its row.
package struct RegistrationRow: Sendable, Equatable {
    package var row: UInt32
    package var registration: Registration

    package init(row: UInt32, registration: Registration) {
        self.row = row
        self.registration = registration
    }
}
