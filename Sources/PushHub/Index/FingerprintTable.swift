import PushModel

/// A multimap from fingerprints to numbers. A number occurs at most once per fingerprint.
///
/// Linear hashing (Litwin, 1980) in sorted, packed segments: 17 bytes per number, without gaps. The table grows and shrinks by one
/// segment at a time, so no change has to wait for the whole table. The first change after a copy copies one segment of about 4 KB
/// and the list of segments.
struct FingerprintTable: Sendable {
    struct Entry {
        let high: UInt64
        let low: UInt32
        let number: UInt32

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

    /// Average number of entries per segment: an insertion moves 2 KB.
    private static let fill = 256
    /// Number of entries by which the capacity of a segment grows.
    private static let growth = 16
    /// Number of leading bits of fingerprints by which bulk insertions sort entries within a segment.
    private static let binBits: UInt64 = 3

    private var segments: [[Entry]] = [[]]
    /// Number of entries.
    private(set) var count = 0
    /// Number of distinct fingerprints.
    private(set) var fingerprintCount = 0

    /// The numbers of a fingerprint, ascending.
    func numbers(of fingerprint: TagFingerprint) -> [UInt32] {
        let entries = segments[segment(of: fingerprint)]
        return entries[range(of: fingerprint, in: entries)].map(\.number)
    }

    func count(of fingerprint: TagFingerprint) -> Int {
        let entries = segments[segment(of: fingerprint)]
        return range(of: fingerprint, in: entries).count
    }

    /// The lowest number of a fingerprint.
    func first(of fingerprint: TagFingerprint) -> UInt32? {
        let segment = segment(of: fingerprint)
        return segments[segment].withUnsafeBufferPointer { entries in
            let position = Self.position(of: Entry(fingerprint, 0), in: entries)
            return position < entries.count && entries[position].has(fingerprint) ? entries[position].number : nil
        }
    }

    // MARK: - Changes

    /// Returns how many numbers the fingerprint has afterwards; nil if it had this one already.
    mutating func insert(_ number: UInt32, of fingerprint: TagFingerprint) -> Int? {
        let segment = segment(of: fingerprint)
        guard let numbers = Self.insert(Entry(fingerprint, number), into: &segments[segment]) else { return nil }
        count += 1
        if numbers == 1 { fingerprintCount += 1 }
        if count > segments.count * Self.fill { split() }
        return numbers
    }

    private static func insert(_ entry: Entry, into entries: inout [Entry]) -> Int? {
        let position = position(of: entry, in: entries)
        if position < entries.count, entries[position].has(entry.fingerprint), entries[position].number == entry.number { return nil }
        if entries.count == entries.capacity { entries.reserveCapacity(entries.count + growth) }
        entries.insert(entry, at: position)
        return range(around: position, in: entries).count
    }

    /// Returns whether the entry existed.
    @discardableResult
    mutating func remove(_ number: UInt32, of fingerprint: TagFingerprint) -> Bool {
        let entry = Entry(fingerprint, number)
        let segment = segment(of: fingerprint)
        let position = Self.position(of: entry, in: segments[segment])
        guard position < segments[segment].count, segments[segment][position].has(fingerprint), segments[segment][position].number == number
        else { return false }
        remove(position..<position + 1, from: segment)
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

    /// Frees spare capacity.
    mutating func compact() {
        for segment in segments.indices where segments[segment].capacity > segments[segment].count + 1 {
            segments[segment] = segments[segment].packed
        }
    }

    private mutating func remove(_ range: Range<Int>, from segment: Int) {
        segments[segment].removeSubrange(range)
        count -= range.count
        // All entries of a tag are in one segment, so removing a large tag leaves much spare capacity.
        if segments[segment].capacity > 2 * segments[segment].count + Self.fill { segments[segment] = segments[segment].packed }
    }

    // MARK: - Bulk insertion

    /// Inserts many entries. Returns the fingerprints that have more than `limit` numbers afterwards.
    mutating func insert(contentsOf entries: [Entry], limit: Int) -> [TagFingerprint] {
        while count + entries.count > segments.count * Self.fill { split() }
        let (sorted, ends) = bySegment(entries)
        var crowded: [TagFingerprint] = []
        var start = 0
        for segment in segments.indices {
            defer { start = ends[segment] }
            guard start < ends[segment] else { continue }
            let added = sorted[start..<ends[segment]]
            let before = (segments[segment].count, Self.groups(in: segments[segment]) { _, _ in })
            segments[segment] = Self.merged(segments[segment], added)
            let groups = Self.groups(in: segments[segment]) { fingerprint, count in
                if count > limit { crowded.append(fingerprint) }
            }
            count += segments[segment].count - before.0
            fingerprintCount += groups - before.1
        }
        return crowded
    }

    /// The entries ordered by segment and sorted within each, and the end of each segment's range.
    private func bySegment(_ entries: [Entry]) -> (sorted: [Entry], ends: [Int]) {
        // Counting sort by segment and leading bits, then a sort of each bin: accesses memory sequentially.
        func bin(_ entry: Entry) -> Int {
            segment(of: entry.fingerprint) << Self.binBits | Int(truncatingIfNeeded: entry.high >> (64 - Self.binBits))
        }
        var ends = [Int](repeating: 0, count: segments.count << Self.binBits + 1)
        for entry in entries { ends[bin(entry) + 1] += 1 }
        for bin in ends.indices.dropFirst() { ends[bin] += ends[bin - 1] }
        let sorted = [Entry](unsafeUninitializedCapacity: entries.count) { sorted, count in
            for entry in entries {
                let bin = bin(entry)
                sorted.initializeElement(at: ends[bin], to: entry)
                ends[bin] += 1
            }
            count = entries.count
            var start = 0
            for end in ends.dropLast() {
                Self.sort(UnsafeMutableBufferPointer(rebasing: sorted[start..<end]))
                start = end
            }
        }
        return (sorted, segments.indices.map { ends[($0 + 1) << Self.binBits - 1] })
    }

    /// Uses insertion sort for few entries.
    private static func sort(_ entries: UnsafeMutableBufferPointer<Entry>) {
        var entries = entries
        guard entries.count <= fill / 4 else { return entries.sort(by: <) }
        for index in entries.indices.dropFirst() {
            let entry = entries[index]
            var position = index
            while position > 0, entry < entries[position - 1] {
                entries[position] = entries[position - 1]
                position -= 1
            }
            entries[position] = entry
        }
    }

    /// Merges two sorted lists without duplicates.
    private static func merged(_ left: [Entry], _ right: ArraySlice<Entry>) -> [Entry] {
        var merged: [Entry] = []
        merged.reserveCapacity(left.count + right.count)
        var position = 0
        for entry in right {
            while position < left.count, left[position] < entry {
                merged.append(left[position])
                position += 1
            }
            let isThere = position < left.count ? !(entry < left[position]) : false
            if !isThere, merged.last.map({ $0 < entry }) ?? true { merged.append(entry) }
        }
        merged += left[position...]
        return merged
    }

    /// Counts distinct fingerprints, and calls `body` with the number of entries of each.
    private static func groups(in entries: [Entry], _ body: (TagFingerprint, Int) -> Void) -> Int {
        var (groups, first) = (0, 0)
        while first < entries.count {
            let fingerprint = entries[first].fingerprint
            var end = first + 1
            while end < entries.count, entries[end].has(fingerprint) { end += 1 }
            body(fingerprint, end - first)
            groups += 1
            first = end
        }
        return groups
    }

    // MARK: - Search

    private static func position(of entry: Entry, in entries: [Entry]) -> Int {
        entries.withUnsafeBufferPointer { position(of: entry, in: $0) }
    }

    /// The index of the first entry that is not less.
    private static func position(of entry: Entry, in entries: UnsafeBufferPointer<Entry>) -> Int {
        // Fingerprints are evenly distributed, so interpolation finds the position to within a few entries.
        var position = Int(truncatingIfNeeded: entry.high.multipliedFullWidth(by: UInt64(entries.count)).high)
        while position > 0, !(entries[position &- 1] < entry) { position &-= 1 }
        while position < entries.count, entries[position] < entry { position &+= 1 }
        return position
    }

    private func range(of fingerprint: TagFingerprint, in entries: [Entry]) -> Range<Int> {
        let position = Self.position(of: Entry(fingerprint, 0), in: entries)
        guard position < entries.count, entries[position].has(fingerprint) else { return position..<position }
        return Self.range(around: position, in: entries)
    }

    /// The range of entries with the same fingerprint as the one at `position`.
    private static func range(around position: Int, in entries: [Entry]) -> Range<Int> {
        let fingerprint = entries[position].fingerprint
        var (first, end) = (position, position + 1)
        while first > 0, entries[first - 1].has(fingerprint) { first -= 1 }
        while end < entries.count, entries[end].has(fingerprint) { end += 1 }
        return first..<end
    }

    // MARK: - Segments

    /// Number of segments at the start of the current round of splits: a power of two.
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
    /// A copy without spare capacity.
    fileprivate var packed: [Element] { map { $0 } }
}
