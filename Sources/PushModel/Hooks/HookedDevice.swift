/// A device that is about to receive a notification.
package struct HookedDevice: Sendable, Equatable {
    /// Identifies the device within the group.
    package var number: UInt32
    package var registrationID: RegistrationID?
    package var installationID: String?
    package var tags: [Tag]
    package var templateName: String?

    package init(
        number: UInt32, registrationID: RegistrationID? = nil, installationID: String? = nil, tags: [Tag] = [], templateName: String? = nil
    ) {
        self.number = number
        self.registrationID = registrationID
        self.installationID = installationID
        self.tags = tags
        self.templateName = templateName
    }
}
