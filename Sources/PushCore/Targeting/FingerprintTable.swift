/// Numbers by fingerprint; a fingerprint may have several, each once.
///
/// Linear hashing (Litwin, 1980) in segments that are sorted and packed: 17 bytes a number, none of them lost to gaps. It grows and
/// shrinks by one segment at a time, so that no change waits for the whole table; and the first change after a copy of the table
/// copies one segment of some 4 KB with the list of the segments.
struct FingerprintTable: Sendable {
    private struct Entry {
        var high: UInt64
        var low: UInt32
        var number: UInt32

        init(_ fingerprint: TagFingerprint, _ number: UInt32) {
            high = fingerprint.high
            low = fingerprint.low
            self.number = number
        }

        var fingerprint: TagFingerprint { TagFingerprint(high: high, low: low) }

        func has(_ fingerprint: TagFingerprint) -> Bool { high == fingerprint.high && low == fingerprint.low }

        static func < (left: Entry, right: Entry) -> Bool {
            if left.high != right.high { return left.high < right.high }
            return left.low == right.low ? left.number < right.number : left.low < right.low
        }
    }

    /// Entries of a segment, in the mean: a search in them takes eight steps, an insertion moves 2 KB.
    private static let fill = 256
    /// As many entries more get room at once.
    private static let room = 16

    private var segments: [[Entry]] = [[]]
    /// Of all fingerprints together.
    private(set) var count = 0
    /// Different ones.
    private(set) var fingerprintCount = 0

    /// Ascending.
    func numbers(of fingerprint: TagFingerprint) -> [UInt32] {
        let entries = segments[segment(of: fingerprint)]
        return entries[range(of: fingerprint, in: entries)].map(\.number)
    }

    func count(of fingerprint: TagFingerprint) -> Int {
        let entries = segments[segment(of: fingerprint)]
        return range(of: fingerprint, in: entries).count
    }

    /// The least number of a fingerprint.
    func first(of fingerprint: TagFingerprint) -> UInt32? {
        let segment = segment(of: fingerprint)
        return segments[segment].withUnsafeBufferPointer { entries in
            let place = Self.place(of: Entry(fingerprint, 0), in: entries)
            return place < entries.count && entries[place].has(fingerprint) ? entries[place].number : nil
        }
    }

    // MARK: - Changes

    /// Answers how many numbers the fingerprint has now; nil where it had this one.
    mutating func insert(_ number: UInt32, of fingerprint: TagFingerprint) -> Int? {
        let entry = Entry(fingerprint, number)
        let segment = segment(of: fingerprint)
        let place = Self.place(of: entry, in: segments[segment])
        if place < segments[segment].count, segments[segment][place].has(fingerprint), segments[segment][place].number == number {
            return nil
        }
        if segments[segment].count == segments[segment].capacity {
            segments[segment].reserveCapacity(segments[segment].count + Self.room)
        }
        segments[segment].insert(entry, at: place)
        let numbers = Self.range(around: place, in: segments[segment]).count
        count += 1
        if numbers == 1 { fingerprintCount += 1 }
        if count > segments.count * Self.fill { split() }
        return numbers
    }

    /// Answers whether it was there.
    @discardableResult
    mutating func remove(_ number: UInt32, of fingerprint: TagFingerprint) -> Bool {
        let entry = Entry(fingerprint, number)
        let segment = segment(of: fingerprint)
        let place = Self.place(of: entry, in: segments[segment])
        guard place < segments[segment].count, segments[segment][place].has(fingerprint), segments[segment][place].number == number
        else { return false }
        remove(place..<place + 1, from: segment)
        if range(of: fingerprint, in: segments[segment]).isEmpty { fingerprintCount -= 1 }
        shrink()
        return true
    }

    mutating func removeAll(of fingerprint: TagFingerprint) {
        let segment = segment(of: fingerprint)
        let range = range(of: fingerprint, in: segments[segment])
        guard !range.isEmpty else { return }
        remove(range, from: segment)
        fingerprintCount -= 1
        shrink()
    }

    /// Takes the least memory for what it holds, until it changes.
    mutating func compact() {
        for segment in segments.indices where segments[segment].capacity > segments[segment].count + 1 {
            segments[segment] = segments[segment].packed
        }
    }

    private mutating func remove(_ range: Range<Int>, from segment: Int) {
        segments[segment].removeSubrange(range)
        count -= range.count
        // A tag that many registrations had is one segment's: what it leaves is given back.
        if segments[segment].capacity > 2 * segments[segment].count + Self.fill { segments[segment] = segments[segment].packed }
    }

    // MARK: - Search

    private static func place(of entry: Entry, in entries: [Entry]) -> Int {
        entries.withUnsafeBufferPointer { place(of: entry, in: $0) }
    }

    /// The first place that holds nothing less.
    private static func place(of entry: Entry, in entries: UnsafeBufferPointer<Entry>) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] < entry { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func range(of fingerprint: TagFingerprint, in entries: [Entry]) -> Range<Int> {
        let place = Self.place(of: Entry(fingerprint, 0), in: entries)
        guard place < entries.count, entries[place].has(fingerprint) else { return place..<place }
        return Self.range(around: place, in: entries)
    }

    /// The entries with the fingerprint of one.
    private static func range(around place: Int, in entries: [Entry]) -> Range<Int> {
        let fingerprint = entries[place].fingerprint
        var (first, end) = (place, place + 1)
        while first > 0, entries[first - 1].has(fingerprint) { first -= 1 }
        while end < entries.count, entries[end].has(fingerprint) { end += 1 }
        return first..<end
    }

    // MARK: - Segments

    /// As many segments as there were when the last round of splits began: a power of two.
    private static func round(_ segments: Int) -> Int { 1 << (Int.bitWidth - 1 - segments.leadingZeroBitCount) }

    private func segment(of fingerprint: TagFingerprint) -> Int {
        let round = Self.round(segments.count)
        let segment = Int(fingerprint.low) & (2 * round - 1)
        return segment < segments.count ? segment : segment - round
    }

    private mutating func split() {
        let round = Self.round(segments.count)
        let old = segments.count - round
        let entries = segments[old]
        segments[old] = entries.filter { Int($0.low) & round == 0 }.packed
        segments.append(entries.filter { Int($0.low) & round != 0 }.packed)
    }

    private mutating func shrink() {
        guard segments.count > 1, count < segments.count * Self.fill / 4, let last = segments.popLast() else { return }
        let other = segments.count - Self.round(segments.count)
        var merged = segments[other] + last
        merged.sort(by: <)
        segments[other] = merged.packed
    }
}

extension Array {
    /// The same without room for more.
    fileprivate var packed: [Element] { map { $0 } }
}
