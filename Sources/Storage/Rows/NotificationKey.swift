import PushModel

/// The database key of a notification: hub number and sequence in one integer. Ascending integers are the cheapest keys: new
/// notifications of a hub are appended after its existing ones.
struct NotificationKey: Equatable {
    /// 17 trillion notifications for each of 500,000 hubs.
    static let sequenceBits: Int64 = 44
    private static let largestSequence: Int64 = 1 << sequenceBits - 1

    let stored: Int64

    init(stored: Int64) { self.stored = stored }

    /// Throws `storage.conflict` (500) if a number does not fit.
    init(hub: Int64, sequence: Int64) throws(PushError) {
        guard (0..<1 << (63 - Self.sequenceBits)).contains(hub), (0..<Self.largestSequence).contains(sequence) else {
            throw StorageError.conflict("the notification \(sequence) of hub \(hub) has a number that is too large")
        }
        stored = hub << Self.sequenceBits + sequence
    }

    /// The key, or the end of the hub's key range for a sequence beyond it.
    init(hub: Int64, upTo sequence: Int64) {
        stored = hub << Self.sequenceBits + min(max(sequence, 0), Self.largestSequence)
    }

    var sequence: Int64 { stored & Self.largestSequence }

    /// For error messages.
    var name: String { "notification \(sequence) of hub \(stored >> Self.sequenceBits)" }
}
