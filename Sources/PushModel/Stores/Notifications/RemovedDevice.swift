/// A device removed because a push service reported its handle as invalid.
package struct RemovedDevice: Sendable, Equatable {
    /// Position in the list of removed devices.
    package struct Position: Sendable, Equatable {
        /// The sequence of the notification that was sent to the device.
        package var sequence: Int64
        /// Index among the devices of that notification, from 0.
        package var ordinal: Int64

        package init(sequence: Int64, ordinal: Int64) {
            self.sequence = sequence
            self.ordinal = ordinal
        }
    }

    package var position: Position
    package var notificationID: String
    /// When the notification ended, or started if it has not ended.
    package var time: Timestamp
    package var device: DeviceOutcome

    package init(position: Position, notificationID: String, time: Timestamp, device: DeviceOutcome) {
        self.position = position
        self.notificationID = notificationID
        self.time = time
        self.device = device
    }
}
