/// The removal of a device that is held, because its notification had too many of its audience removed: the device stays registered until
/// an operator applies or drops the removal.
package struct HeldRemoval: Sendable, Equatable {
    /// Counts up in the store, in the order of arrival; 0 before it is stored.
    package var number: Int64
    package var handle: DeviceHandle
    /// The push service's own word.
    package var reason: String
    /// The notification for which the push service called the handle invalid.
    package var notificationID: String
    /// When the push service answered.
    package var time: Timestamp
    /// Registrations that were updated later stay: the app has registered the device again.
    package var validBefore: Timestamp

    package init(
        number: Int64 = 0, handle: DeviceHandle, reason: String, notificationID: String, time: Timestamp, validBefore: Timestamp
    ) {
        self.number = number
        self.handle = handle
        self.reason = reason
        self.notificationID = notificationID
        self.time = time
        self.validBefore = validBefore
    }
}

/// Which held removals are meant: those that satisfy all that is given.
package struct HeldRemovalFilter: Sendable, Equatable {
    package var notificationID: String?
    package var reason: String?

    package init(notificationID: String? = nil, reason: String? = nil) {
        (self.notificationID, self.reason) = (notificationID, reason)
    }

    package func matches(_ removal: HeldRemoval) -> Bool {
        notificationID.map { $0 == removal.notificationID } ?? true && reason.map { $0 == removal.reason } ?? true
    }
}

/// What applying or dropping held removals did, or would do.
package struct HeldRemovalResult: Sendable, Equatable {
    /// Removals that were applied or dropped.
    package var devices = 0
    /// Applied removals whose device had been registered again or deleted meanwhile: nothing was left to remove.
    package var outdated = 0

    package init(devices: Int = 0, outdated: Int = 0) { (self.devices, self.outdated) = (devices, outdated) }
}
