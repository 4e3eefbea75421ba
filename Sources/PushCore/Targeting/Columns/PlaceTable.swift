/// Finds places by what stands there: a hash table that holds places alone, four bytes a slot.
///
/// What a place needs not of its slot is a part of the hash, so that few others are looked at: twelve bits with a million places.
/// The table has 512 parts, each of which grows by itself, so that nobody waits for all of it to grow. Hashes have to be keyed:
/// clients choose what is hashed.
struct PlaceTable: Sendable {
    fileprivate struct Part: Sendable {
        var slots: [UInt32] = []
        var count: UInt32 = 0
        /// Bits of a slot that are the place's.
        var placeBits: UInt32 = 16
    }

    private static let partBits: UInt64 = 9
    private static let empty = UInt32.max
    private var parts = [Part](repeating: Part(), count: 1 << partBits)

    private static func part(_ hash: UInt64) -> Int { Int(hash >> (64 - partBits)) }

    /// The place with that hash which is meant.
    @inline(__always)
    func find(_ hash: UInt64, where isMeant: (UInt32) -> Bool) -> UInt32? {
        let part = parts[Self.part(hash)]
        guard !part.slots.isEmpty else { return nil }
        let mark = part.mark(hash)
        let mask = part.mask
        return part.slots.withUnsafeBufferPointer { slots in
            var at = Part.home(hash, slots.count)
            while slots[at] != Self.empty {
                if slots[at] & ~mask == mark, isMeant(slots[at] & mask) { return slots[at] & mask }
                at = at + 1 == slots.count ? 0 : at + 1
            }
            return nil
        }
    }

    /// Whether there has to be more room before a place can be put in.
    func isFull(for place: UInt32, _ hash: UInt64) -> Bool {
        let part = parts[Self.part(hash)]
        return Int(part.count) + 1 > part.slots.count * 82 / 100 || place >= part.mask
    }

    /// - Parameters:
    ///   - place: which is to be put in.
    ///   - hash(of:): gives the hashes of those that are in.
    mutating func makeRoom(for place: UInt32, _ hash: UInt64, hashOf: (UInt32) -> UInt64) {
        let number = Self.part(hash)
        parts[number].rebuild(for: Int(parts[number].count) + 1, holding: place, hashOf: hashOf)
    }

    /// - Parameter place: not in the table yet; there is room for it.
    mutating func insert(_ place: UInt32, _ hash: UInt64) {
        let number = Self.part(hash)
        parts[number].put(place, hash)
        parts[number].count += 1
    }

    mutating func remove(_ place: UInt32, _ hash: UInt64, hashOf: (UInt32) -> UInt64) {
        let number = Self.part(hash)
        guard parts[number].remove(place, hash, hashOf: hashOf) else { return }
        parts[number].count -= 1
        if parts[number].slots.count > 64, Int(parts[number].count) * 3 < parts[number].slots.count {
            parts[number].rebuild(for: Int(parts[number].count), holding: 0, hashOf: hashOf)
        }
    }

    /// Places with their hashes, in the order of the parts that they go to; those of one part as they come. What goes to one part of a
    /// table is written while that part is at hand.
    static func inOrder(_ places: [UInt32], hashOf: (UInt32) -> UInt64) -> [(place: UInt32, hash: UInt64)] {
        let hashes = places.map(hashOf)
        var starts = [Int](repeating: 0, count: 1 << partBits + 1)
        for hash in hashes { starts[part(hash) + 1] += 1 }
        for part in 1..<starts.count { starts[part] += starts[part - 1] }
        return Array(unsafeUninitializedCapacity: places.count) { sorted, count in
            for (place, hash) in zip(places, hashes) {
                let part = part(hash)
                sorted.initializeElement(at: starts[part], to: (place, hash))
                starts[part] += 1
            }
            count = places.count
        }
    }

    /// Makes room, in a table that is empty, for all places below `end`, if they are as many as the first ones let expect.
    mutating func reserve(asFor first: [UInt32], below end: UInt32) {
        let count = min(Int(end), first.count * Int(end) / (Int(first.last ?? 0) + 1))
        let each = count / parts.count
        guard each > 64 else { return }
        for number in parts.indices { parts[number].rebuild(for: each, holding: end) { _ in 0 } }
    }
}

extension PlaceTable.Part {
    fileprivate var mask: UInt32 { placeBits == 32 ? .max : 1 << placeBits - 1 }

    @inline(__always)
    fileprivate static func home(_ hash: UInt64, _ count: Int) -> Int {
        Int(truncatingIfNeeded: ((hash >> 23 & 0xFFFF_FFFF) &* UInt64(truncatingIfNeeded: count)) >> 32)
    }

    /// What of the hash stands beside a place.
    @inline(__always)
    fileprivate func mark(_ hash: UInt64) -> UInt32 { placeBits == 32 ? 0 : UInt32(truncatingIfNeeded: hash) << placeBits }

    @inline(__always)
    fileprivate mutating func put(_ place: UInt32, _ hash: UInt64) {
        let slot = mark(hash) | place
        slots.withUnsafeMutableBufferPointer { slots in
            var at = Self.home(hash, slots.count)
            while slots[at] != .max { at = at + 1 == slots.count ? 0 : at + 1 }
            slots[at] = slot
        }
    }

    /// Closes the gap, so that nothing behind it becomes unreachable.
    fileprivate mutating func remove(_ place: UInt32, _ hash: UInt64, hashOf: (UInt32) -> UInt64) -> Bool {
        guard !slots.isEmpty else { return false }
        let (slot, mask) = (mark(hash) | place, mask)
        return slots.withUnsafeMutableBufferPointer { slots in
            let count = slots.count
            var gap = Self.home(hash, count)
            while slots[gap] != slot {
                guard slots[gap] != .max else { return false }
                gap = gap + 1 == count ? 0 : gap + 1
            }
            var at = gap
            while true {
                at = at + 1 == count ? 0 : at + 1
                guard slots[at] != .max else { break }
                let home = Self.home(hashOf(slots[at] & mask), count)
                let (toHome, toGap) = (at >= home ? at - home : at - home + count, at >= gap ? at - gap : at - gap + count)
                guard toHome >= toGap else { continue }
                slots[gap] = slots[at]
                gap = at
            }
            slots[gap] = .max
            return true
        }
    }

    /// - Parameter place: the highest that is to come.
    fileprivate mutating func rebuild(for count: Int, holding place: UInt32, hashOf: (UInt32) -> UInt64) {
        let (old, oldMask) = (slots, mask)
        while place >= mask, placeBits < 32 { placeBits += 1 }
        // Two thirds full: until the next time it is three quarters on the average, which is five and a half bytes each.
        slots = Array(repeating: .max, count: max(8, count * 3 / 2))
        for slot in old where slot != .max { put(slot & oldMask, hashOf(slot & oldMask)) }
    }
}
