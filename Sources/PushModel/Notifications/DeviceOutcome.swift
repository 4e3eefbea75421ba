extension DeviceOutcome {
    /// The push service's reason, or `SameHandle` for a device that was skipped because another has its handle.
    package var removalReason: String { reason.isEmpty ? "SameHandle" : reason }
}

/// The device that an outcome is about, as it was when the notification was sent.
package struct OutcomeDevice: Sendable, Equatable {
    /// Nil for a direct send.
    package var registrationID: RegistrationID?
    /// The installation that the registration represents.
    package var installationID: String?
    package var platform: Platform
    package var handle: DeviceHandle
    package var templateName: String?

    package init(
        registrationID: RegistrationID?, installationID: String? = nil, platform: Platform, handle: DeviceHandle, templateName: String?
    ) {
        self.registrationID = registrationID
        self.installationID = installationID
        self.platform = platform
        self.handle = handle
        self.templateName = templateName
    }
}

/// The result for one device.
package struct DeviceOutcome: Sendable, Equatable {
    package var device: OutcomeDevice
    /// The push service's own reason; empty on success.
    package var reason: String
    package var cause: OutcomeCause
    /// Declared after `cause`, where it fits into padding: waiting senders store one value per device.
    package var outcome: OutcomeName
    /// The push service's id of the push.
    package var pushID: String?
    /// Size of the rendered body in bytes.
    package var size: Int
    /// The registration was removed because the push service reported the handle as invalid.
    package var isRegistrationRemoved: Bool

    package init(
        device: OutcomeDevice, outcome: OutcomeName, reason: String, cause: OutcomeCause, pushID: String?, size: Int,
        isRegistrationRemoved: Bool
    ) {
        self.device = device
        self.reason = reason
        self.cause = cause
        self.outcome = outcome
        self.pushID = pushID
        self.size = size
        self.isRegistrationRemoved = isRegistrationRemoved
    }

    /// Text for people: what the result means and what to do.
    package var explanation: String { cause.text }
    package var registrationID: RegistrationID? { device.registrationID }
    package var installationID: String? { device.installationID }
    package var platform: Platform { device.platform }
    package var handle: DeviceHandle { device.handle }
    package var templateName: String? { device.templateName }
}
