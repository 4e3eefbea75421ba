import PushModel

/// The stored form of a batch: all devices, and again those whose registrations were removed, so that these can be found without
/// reading all.
struct OutcomeRows: Sendable {
    /// The devices whose registrations were removed.
    struct Removed {
        /// Ordinal of the first of them within the notification.
        let first: Int
        /// The ordinals of all of them, encoded.
        let ordinals: [UInt8]
        /// The encoded batch.
        let content: [UInt8]
    }

    /// Maximum number of devices per row. A list page reads one or two rows, and deleting rows in steps lets other changes in between.
    static let maximumDevices = 8192

    let count: Int
    /// The encoded batch.
    let content: [UInt8]
    private let removed: (ordinals: [Int], content: [UInt8])?

    /// Encodes devices as rows. Call it before a transaction begins.
    static func rows(for devices: OutcomeBatch) -> [OutcomeRows] { devices.parts(of: maximumDevices).map { OutcomeRows($0) } }

    init(_ devices: OutcomeBatch) {
        count = devices.count
        content = OutcomeBatchCodec.bytes(of: devices)
        let ordinals = devices.removed
        removed = ordinals.isEmpty ? nil : (ordinals, OutcomeBatchCodec.bytes(of: OutcomeBatch(ordinals.lazy.map { devices[$0] })))
    }

    /// Nil if no registration was removed.
    ///
    /// - Parameter first: ordinal of the first device of the batch within the notification.
    func removed(from first: Int) -> Removed? {
        guard let removed else { return nil }
        var ordinals: [UInt8] = []
        for ordinal in removed.ordinals { ordinals.append(number: UInt64(first + ordinal)) }
        return Removed(first: first + removed.ordinals[0], ordinals: ordinals, content: removed.content)
    }
}
