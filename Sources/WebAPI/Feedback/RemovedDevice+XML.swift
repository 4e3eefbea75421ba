import HubWire
import PushModel

extension RemovedDevice {
    /// Appends a `PnsFeedback` element and a line end.
    func write(into writer: inout XMLWriter) {
        writer.description("PnsFeedback") { writer in
            writer.element("FeedbackTime", text: time.description)
            writer.element("NotificationSystemError", text: device.outcome.rawValue)
            writer.element("Platform", text: device.handle.platform.format.lowercased())
            writer.element("PnsHandle", text: device.handle.text)
            writer.element("RegistrationId", ifPresent: device.registrationID?.text)
            writer.element("InstallationId", ifPresent: device.installationID)
            writer.element("NotificationId", text: notificationID)
        }
        writer.endLine()
    }
}

extension RemovedDevice.Position {
    /// The position as `sequence.ordinal`, for the address of the next page.
    var token: String { "\(sequence).\(ordinal)" }

    init?(token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 2, let sequence = parts[0], let ordinal = parts[1] else { return nil }
        self.init(sequence: sequence, ordinal: ordinal)
    }
}
