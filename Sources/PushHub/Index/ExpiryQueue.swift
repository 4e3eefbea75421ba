import PushModel

/// Expiry times of rows, in milliseconds: six bytes per row with an expiry, and four for the queue.
///
/// Times within about four minutes share a bucket. Rows in a bucket are unsorted until its time has come.
/// When the expiry of a row changes, its old entry stays in the queue and is ignored when it is due.
struct ExpiryQueue: Sendable {
    private static let bucketBits: Int64 = 18
    private static let longest: Int64 = 1 << 48 - 1

    private var low = RowColumn<UInt32>(vacant: 0)
    private var high = RowColumn<UInt16>(vacant: 0)
    private var buckets: [Int64: [UInt32]] = [:]
    private var order = TimeQueue<Int64>()
    private var opened = TimeQueue<UInt32>()
    /// The last bucket that was sorted.
    private var lastOpened: Int64 = -1
    /// Number of rows with an expiry.
    private(set) var count = 0
    private var entries = 0

    /// The expiry of a row; nil if it never expires.
    func expiry(of row: UInt32) -> Timestamp? {
        let milliseconds = Int64(low[row]) | Int64(high[row]) << 32
        return milliseconds == 0 ? nil : Timestamp(milliseconds: milliseconds)
    }

    /// - Parameter time: `distantFuture` or later means never.
    mutating func set(_ time: Timestamp, at row: UInt32) {
        guard time < .distantFuture else { return clear(row) }
        let (old, milliseconds) = (self.expiry(of: row), max(1, min(time.milliseconds, Self.longest)))
        guard old?.milliseconds != milliseconds else { return }
        if old == nil { count += 1 }
        low[row] = UInt32(truncatingIfNeeded: milliseconds)
        high[row] = UInt16(truncatingIfNeeded: milliseconds >> 32)
        enter(row, milliseconds)
    }

    mutating func clear(_ row: UInt32) {
        guard expiry(of: row) != nil else { return }
        count -= 1
        low.clear(row)
        high.clear(row)
    }

    /// Whether more than half of the entries are obsolete, so that `renew(end:)` pays off.
    var isStale: Bool { entries > 2 * count + 64 }

    /// Removes obsolete entries.
    ///
    /// - Parameter end: end of the row range.
    mutating func renew(end: UInt32) {
        (buckets, order, opened, lastOpened, entries) = ([:], TimeQueue(), TimeQueue(), -1, 0)
        for row in 0..<end {
            if let expiry = expiry(of: row) { enter(row, expiry.milliseconds) }
        }
    }

    private mutating func enter(_ row: UInt32, _ milliseconds: Int64) {
        entries += 1
        let bucket = milliseconds >> Self.bucketBits
        guard bucket > lastOpened else { return opened.insert(row, at: Timestamp(milliseconds: milliseconds)) }
        if buckets[bucket] == nil { order.insert(bucket, at: Timestamp(milliseconds: bucket << Self.bucketBits)) }
        buckets[bucket, default: []].append(row)
    }

    /// Removes and returns the next row that expired by `now`, and clears its expiry.
    mutating func popFirst(dueBy now: Timestamp) -> UInt32? {
        while let bucket = order.popFirst(dueBy: now) { open(bucket) }
        while let (expiry, row) = opened.first, expiry <= now {
            _ = opened.popFirst()
            entries -= 1
            guard self.expiry(of: row) == expiry else { continue }
            clear(row)
            return row
        }
        return nil
    }

    private mutating func open(_ bucket: Int64) {
        lastOpened = max(lastOpened, bucket)
        for row in buckets.removeValue(forKey: bucket) ?? [] {
            guard let expiry = expiry(of: row), expiry.milliseconds >> Self.bucketBits == bucket else {
                entries -= 1
                continue
            }
            opened.insert(row, at: expiry)
        }
    }
}
