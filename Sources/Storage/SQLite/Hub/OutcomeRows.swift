import GRDB
import PushModel

/// The stored form of a batch: all devices, and again those whose registrations were removed, so that these can be found without
/// reading all.
struct OutcomeRows: Sendable {
    let count: Int
    /// The encoded batch.
    let content: [UInt8]
    private let removed: (ordinals: [Int], content: [UInt8])?

    init(_ devices: OutcomeBatch) {
        count = devices.count
        content = OutcomeBatchCodec.bytes(of: devices)
        let ordinals = devices.removed
        removed = ordinals.isEmpty ? nil : (ordinals, OutcomeBatchCodec.bytes(of: OutcomeBatch(ordinals.lazy.map { devices[$0] })))
    }

    /// - Parameter first: ordinal of the first device within the notification.
    func insert(from first: Int, of key: NotificationKey, in database: Database) throws {
        try database.run(
            "INSERT INTO outcome_batch (notification, first, count, content) VALUES (?, ?, ?, ?)", key.stored, first, count, content)
        guard let removed else { return }
        var ordinals: [UInt8] = []
        for ordinal in removed.ordinals { ordinals.append(number: UInt64(first + ordinal)) }
        try database.run(
            "INSERT INTO dead_batch (notification, first, ordinals, content) VALUES (?, ?, ?, ?)", key.stored, first + removed.ordinals[0],
            ordinals, removed.content)
    }
}
