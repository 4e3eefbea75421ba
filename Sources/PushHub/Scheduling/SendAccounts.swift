import PushModel

/// The accounts of the runs whose notifications have not ended, by sequence number. A run that has ended is not charged any more, so its
/// account is not kept alive.
struct SendAccounts {
    private struct Entry {
        weak var account: (any WorkAccount)?
    }

    private var entries: [Int64: Entry] = [:]
    /// Number of entries at which those of ended runs are removed.
    private var sweepSize = leastSweepSize
    private static let leastSweepSize = 1_024

    var count: Int { entries.count }

    subscript(sequence: Int64) -> (any WorkAccount)? {
        get { entries.isEmpty ? nil : entries[sequence]?.account }
        set {
            guard newValue != nil || !entries.isEmpty else { return }
            entries[sequence] = newValue.map { Entry(account: $0) }
            guard entries.count >= sweepSize else { return }
            entries = entries.filter { $0.value.account != nil }
            sweepSize = max(Self.leastSweepSize, 2 * entries.count)
        }
    }
}
