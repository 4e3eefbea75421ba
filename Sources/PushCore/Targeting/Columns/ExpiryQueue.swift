/// When places leave, to the millisecond: six bytes for each that does, and four to find it again.
///
/// Moments of about four minutes share a bucket, in which places lie in no order; the bucket whose time has come is put in order.
/// Where a place has another moment than before, its old entry is passed over when it comes up.
struct ExpiryQueue: Sendable {
    private static let bucketBits: Int64 = 18
    private static let longest: Int64 = 1 << 48 - 1

    private var low = PlaceColumn<UInt32>(vacant: 0)
    private var high = PlaceColumn<UInt16>(vacant: 0)
    private var buckets: [Int64: [UInt32]] = [:]
    private var order = TimeQueue<Int64>()
    private var opened = TimeQueue<UInt32>()
    /// The last bucket that was put in order.
    private var lastOpened: Int64 = -1
    /// Places that have a moment.
    private(set) var count = 0
    private var entries = 0

    /// Nil for one that stays.
    func moment(of place: UInt32) -> Timestamp? {
        let milliseconds = Int64(low[place]) | Int64(high[place]) << 32
        return milliseconds == 0 ? nil : Timestamp(milliseconds: milliseconds)
    }

    /// - Parameter moment: `distantFuture` and what lies behind it is never.
    mutating func set(_ moment: Timestamp, at place: UInt32) {
        guard moment < .distantFuture else { return clear(place) }
        let (old, milliseconds) = (self.moment(of: place), max(1, min(moment.milliseconds, Self.longest)))
        guard old?.milliseconds != milliseconds else { return }
        if old == nil { count += 1 }
        low[place] = UInt32(truncatingIfNeeded: milliseconds)
        high[place] = UInt16(truncatingIfNeeded: milliseconds >> 32)
        enter(place, milliseconds)
    }

    mutating func clear(_ place: UInt32) {
        guard moment(of: place) != nil else { return }
        count -= 1
        low.clear(place)
        high.clear(place)
    }

    /// Whether those that are passed over are as many as the others: then it is time to enter all of them anew.
    var isStale: Bool { entries > 2 * count + 64 }

    /// Leaves out the entries that no longer apply.
    ///
    /// - Parameter end: behind the last place.
    mutating func renew(end: UInt32) {
        (buckets, order, opened, lastOpened, entries) = ([:], TimeQueue(), TimeQueue(), -1, 0)
        for place in 0..<end {
            if let moment = moment(of: place) { enter(place, moment.milliseconds) }
        }
    }

    private mutating func enter(_ place: UInt32, _ milliseconds: Int64) {
        entries += 1
        let bucket = milliseconds >> Self.bucketBits
        guard bucket > lastOpened else { return opened.insert(place, at: Timestamp(milliseconds: milliseconds)) }
        if buckets[bucket] == nil { order.insert(bucket, at: Timestamp(milliseconds: bucket << Self.bucketBits)) }
        buckets[bucket, default: []].append(place)
    }

    /// The next place whose moment has come by `now`. It has no moment from then on.
    mutating func popFirst(dueBy now: Timestamp) -> UInt32? {
        while let bucket = order.popFirst(dueBy: now) { open(bucket) }
        while let (moment, place) = opened.first, moment <= now {
            _ = opened.popFirst()
            entries -= 1
            guard self.moment(of: place) == moment else { continue }
            clear(place)
            return place
        }
        return nil
    }

    private mutating func open(_ bucket: Int64) {
        lastOpened = max(lastOpened, bucket)
        for place in buckets.removeValue(forKey: bucket) ?? [] {
            guard let moment = moment(of: place), moment.milliseconds >> Self.bucketBits == bucket else {
                entries -= 1
                continue
            }
            opened.insert(place, at: moment)
        }
    }
}
