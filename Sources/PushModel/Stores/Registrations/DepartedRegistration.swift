/// A removed registration, as far as its details are stored.
package struct DepartedRegistration: Sendable, Equatable {
    package var id: RegistrationID
    package var departure: RegistrationDeparture
    package var handle: DeviceHandle
    /// When it would have expired.
    package var expiration: Timestamp
    /// The installation that it represented.
    package var installationID: String?

    package init(
        id: RegistrationID, departure: RegistrationDeparture, handle: DeviceHandle, expiration: Timestamp, installationID: String?
    ) {
        (self.id, self.departure, self.handle) = (id, departure, handle)
        (self.expiration, self.installationID) = (expiration, installationID)
    }

    /// When it stopped being usable. An expired registration is removed some time after its expiration.
    package var time: Timestamp { departure.reason == .expired ? min(departure.time, expiration) : departure.time }
}
