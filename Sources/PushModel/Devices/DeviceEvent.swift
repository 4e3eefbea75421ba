/// An event of a push on a device: delivered, stored, deferred, replaced, expired, dropped, shown.
package struct DeviceEvent: Sendable, Equatable {
    package var time: Timestamp
    package var device: DeviceID
    package var kind: String
    package var text: String

    package init(time: Timestamp, device: DeviceID, kind: String, text: String) {
        self.time = time
        self.device = device
        self.kind = kind
        self.text = text
    }
}
