import PushModel

/// The devices of one batch that were removed because their handles are invalid.
struct RemovedBatch {
    /// Position of the first device.
    let position: RemovedDevice.Position
    private let ordinals: [Int64]
    private let devices: OutcomeBatch
    private let notificationID: String
    private let time: Timestamp

    init(
        position: RemovedDevice.Position, ordinals: [UInt8], devices: OutcomeBatch, notificationID: String, time: Timestamp
    ) throws {
        self.position = position
        self.ordinals = try ordinals.withUnsafeBytes { bytes in
            var cursor = ByteCursor(bytes)
            let ordinals = devices.indices.map { _ in Int64(clamping: cursor.number()) }
            guard cursor.isAtEnd, !cursor.isBeyond else {
                throw UnreadableValue(reason: "its ordinals do not match \(devices.count) devices")
            }
            return ordinals
        }
        self.devices = devices
        self.notificationID = notificationID
        self.time = time
    }

    /// Last device first.
    func devices(before end: RemovedDevice.Position) -> some Sequence<RemovedDevice> {
        devices.indices.reversed().lazy.filter { (position.sequence, ordinals[$0]) < (end.sequence, end.ordinal) }.map { rowNumber in
            RemovedDevice(
                position: RemovedDevice.Position(sequence: position.sequence, ordinal: ordinals[rowNumber]), notificationID: notificationID,
                time: time, device: devices[rowNumber])
        }
    }
}
