import HubWire
import PushModel

/// A removed device as an element `PnsFeedback`.
struct RemovedDeviceXML {
    let removal: RemovedDevice

    init(_ removal: RemovedDevice) { self.removal = removal }

    /// Appends the element and a line end.
    func write(into writer: inout XMLWriter) {
        writer.description("PnsFeedback") { writer in
            writer.element("FeedbackTime", text: removal.time.description)
            writer.element("NotificationSystemError", text: removal.device.outcome.rawValue)
            writer.element("Platform", text: removal.device.handle.platform.format.lowercased())
            writer.element("PnsHandle", text: removal.device.handle.text)
            writer.element("RegistrationId", ifPresent: removal.device.registrationID?.text)
            writer.element("InstallationId", ifPresent: removal.device.installationID)
            writer.element("NotificationId", text: removal.notificationID)
        }
        writer.endLine()
    }
}
