/// A removed registration, as far as its details are stored.
package struct DeletedRegistration: Sendable, Equatable {
    package var id: RegistrationID
    package var tombstone: RegistrationTombstone
    package var handle: DeviceHandle
    /// When it would have expired.
    package var expiration: Timestamp
    /// The installation that it represented.
    package var installationID: String?

    package init(
        id: RegistrationID, tombstone: RegistrationTombstone, handle: DeviceHandle, expiration: Timestamp, installationID: String?
    ) {
        (self.id, self.tombstone, self.handle) = (id, tombstone, handle)
        (self.expiration, self.installationID) = (expiration, installationID)
    }

    /// When it stopped being usable. An expired registration is removed some time after its expiration.
    package var time: Timestamp { tombstone.reason == .expired ? min(tombstone.time, expiration) : tombstone.time }
}
