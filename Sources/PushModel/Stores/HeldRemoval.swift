/// The pending removal of a device. Removals are held when a notification would remove too large a share of its audience: the device stays
/// registered until an operator applies or drops the removal.
package struct HeldRemoval: Sendable, Equatable {
    /// Counts up in the store, in the order of arrival; 0 until stored.
    package var number: Int64
    package var handle: DeviceHandle
    /// The reason as the push service gives it.
    package var reason: String
    /// The notification for which the push service reported the handle as invalid.
    package var notificationID: String
    /// The time of the push service's response.
    package var time: Timestamp
    /// Registrations updated after this time are left unchanged: the app has registered the device again.
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

/// Selects held removals; a removal must match every property that is set.
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

/// The result of applying or dropping held removals, or of a dry run.
package struct HeldRemovalResult: Sendable, Equatable {
    /// Number of removals applied or dropped.
    package var devices = 0
    /// Number of applied removals without effect, because the device was registered again or deleted in the meantime.
    package var outdated = 0

    package init(devices: Int = 0, outdated: Int = 0) { (self.devices, self.outdated) = (devices, outdated) }
}
