import PushModel

/// A handle that a push service reports as invalid.
struct InvalidHandle: Sendable {
    var handle: DeviceHandle
    /// The push service's reason code.
    var reason: String
    /// The notification for which the service reported it.
    var notificationID: String
    /// Registrations that were updated later are not removed.
    var validBefore: Timestamp
}

/// A registration for an invalid handle.
struct InvalidHandleRow: Sendable {
    var row: UInt32
    var id: RegistrationID
    var invalid: InvalidHandle

    /// - Parameter registration: the current registration in the row.
    func isRemovable(_ registration: Registration?) -> Bool {
        guard let registration else { return false }
        return registration.handle == invalid.handle && registration.updatedAt <= invalid.validBefore
    }
}

/// The result of a removal.
struct RemovalResult: Sendable {
    var removed: Set<RegistrationID> = []
    /// Handles that had registrations.
    var cleared: Set<DeviceHandle> = []
}
