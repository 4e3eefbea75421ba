/// A device that left the hub because a push service called its handle dead.
package struct DeadDevice: Sendable, Equatable {
    /// Where it stands in the list of them.
    package struct Position: Sendable, Equatable {
        /// Of the notification that was sent to it.
        package var sequence: Int64
        /// Among the devices of that notification, from 0.
        package var ordinal: Int64

        package init(sequence: Int64, ordinal: Int64) {
            self.sequence = sequence
            self.ordinal = ordinal
        }
    }

    package var position: Position
    package var notificationID: String
    /// When the notification ended, or began where it has not ended yet.
    package var time: Timestamp
    package var device: DeviceOutcome

    package init(position: Position, notificationID: String, time: Timestamp, device: DeviceOutcome) {
        self.position = position
        self.notificationID = notificationID
        self.time = time
        self.device = device
    }
}
