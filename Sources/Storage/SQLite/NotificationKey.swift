import PushCore

/// The key of a notification among those of all hubs: the number of its hub, then its sequence. One integer that counts up is
/// the cheapest key there is: what a hub accepts is put behind what it has.
struct NotificationKey: Equatable {
    /// 17 million million notifications of each of 500,000 hubs.
    static let sequenceBits: Int64 = 44
    private static let largestSequence: Int64 = 1 << sequenceBits - 1

    let stored: Int64

    init(stored: Int64) { self.stored = stored }

    /// Throws `storage.conflict` (500) for numbers beyond what a key can hold.
    init(hub: Int64, sequence: Int64) throws(PushError) {
        guard (0..<1 << (63 - Self.sequenceBits)).contains(hub), (0..<Self.largestSequence).contains(sequence) else {
            throw StorageError.conflict("the notification \(sequence) of hub \(hub) is beyond the last that can be counted")
        }
        stored = hub << Self.sequenceBits + sequence
    }

    /// The key, or the end of the hub's keys for a sequence behind all that there can be.
    init(hub: Int64, upTo sequence: Int64) {
        stored = hub << Self.sequenceBits + min(max(sequence, 0), Self.largestSequence)
    }

    var sequence: Int64 { stored & Self.largestSequence }

    /// For messages.
    var name: String { "notification \(sequence) of hub \(stored >> Self.sequenceBits)" }
}
