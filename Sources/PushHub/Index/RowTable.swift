import PushModel

/// A hash table that finds rows by a key stored in the row. A slot is four bytes: the row number and some bits of the hash.
///
/// The hash bits avoid most comparisons of keys: there are twelve with a million rows.
/// The table has 512 parts that grow independently, so that no insertion waits for the whole table. Hashes must be keyed, because
/// clients choose the keys.
struct RowTable: Sendable {
    fileprivate struct Part: Sendable {
        var slots: [UInt32] = []
        var count: UInt32 = 0
        /// Number of bits of a slot that hold the row.
        var rowBits: UInt32 = 16
    }

    private static let partBits: UInt64 = 9
    private static let empty = UInt32.max
    private var parts = [Part](repeating: Part(), count: 1 << partBits)

    private static func part(_ hash: UInt64) -> Int { Int(hash >> (64 - partBits)) }

    /// The row with this hash that satisfies `predicate`.
    @inline(__always)
    func find(_ hash: UInt64, where predicate: (UInt32) -> Bool) -> UInt32? {
        let part = parts[Self.part(hash)]
        guard !part.slots.isEmpty else { return nil }
        let mark = part.mark(hash)
        let mask = part.mask
        return part.slots.withUnsafeBufferPointer { slots in
            var at = Part.home(hash, slots.count)
            while slots[at] != Self.empty {
                if slots[at] & ~mask == mark, predicate(slots[at] & mask) { return slots[at] & mask }
                at = at + 1 == slots.count ? 0 : at + 1
            }
            return nil
        }
    }

    /// Whether the table must grow before the row can be inserted.
    func isFull(for row: UInt32, _ hash: UInt64) -> Bool {
        let part = parts[Self.part(hash)]
        return Int(part.count) + 1 > part.slots.count * 82 / 100 || row >= part.mask
    }

    /// - Parameters:
    ///   - row: the row to insert.
    ///   - hashOf: provides the hashes of the rows in the table.
    mutating func grow(for row: UInt32, _ hash: UInt64, hashOf: (UInt32) -> UInt64) {
        let number = Self.part(hash)
        parts[number].rebuild(for: Int(parts[number].count) + 1, holding: row, hashOf: hashOf)
    }

    /// - Parameter row: a row that is not in the table. There must be space for it.
    mutating func insert(_ row: UInt32, _ hash: UInt64) {
        let number = Self.part(hash)
        parts[number].put(row, hash)
        parts[number].count += 1
    }

    mutating func remove(_ row: UInt32, _ hash: UInt64, hashOf: (UInt32) -> UInt64) {
        let number = Self.part(hash)
        guard parts[number].remove(row, hash, hashOf: hashOf) else { return }
        parts[number].count -= 1
        if parts[number].slots.count > 64, Int(parts[number].count) * 3 < parts[number].slots.count {
            parts[number].rebuild(for: Int(parts[number].count), holding: 0, hashOf: hashOf)
        }
    }

    /// Rows with their hashes, ordered by the part that they belong to. Inserting them in this order works on one part at a time, which
    /// makes good use of the CPU cache.
    static func inOrder(_ rows: [UInt32], hashOf: (UInt32) -> UInt64) -> [(row: UInt32, hash: UInt64)] {
        let hashes = rows.map(hashOf)
        var starts = [Int](repeating: 0, count: 1 << partBits + 1)
        for hash in hashes { starts[part(hash) + 1] += 1 }
        for part in 1..<starts.count { starts[part] += starts[part - 1] }
        return Array(unsafeUninitializedCapacity: rows.count) { sorted, count in
            for (row, hash) in zip(rows, hashes) {
                let part = part(hash)
                sorted.initializeElement(at: starts[part], to: (row, hash))
                starts[part] += 1
            }
            count = rows.count
        }
    }

    /// Reserves space in an empty table for all rows below `end`, estimated from the density of the first ones.
    mutating func reserve(asFor first: [UInt32], below end: UInt32) {
        let count = min(Int(end), first.count * Int(end) / (Int(first.last ?? 0) + 1))
        let each = count / parts.count
        guard each > 64 else { return }
        for number in parts.indices { parts[number].rebuild(for: each, holding: end) { _ in 0 } }
    }
}

extension RowTable.Part {
    fileprivate var mask: UInt32 { rowBits == 32 ? .max : 1 << rowBits - 1 }

    @inline(__always)
    fileprivate static func home(_ hash: UInt64, _ count: Int) -> Int {
        Int(truncatingIfNeeded: ((hash >> 23 & 0xFFFF_FFFF) &* UInt64(truncatingIfNeeded: count)) >> 32)
    }

    /// The hash bits of a slot.
    @inline(__always)
    fileprivate func mark(_ hash: UInt64) -> UInt32 { rowBits == 32 ? 0 : UInt32(truncatingIfNeeded: hash) << rowBits }

    @inline(__always)
    fileprivate mutating func put(_ row: UInt32, _ hash: UInt64) {
        let slot = mark(hash) | row
        slots.withUnsafeMutableBufferPointer { slots in
            var at = Self.home(hash, slots.count)
            while slots[at] != .max { at = at + 1 == slots.count ? 0 : at + 1 }
            slots[at] = slot
        }
    }

    /// Removes a row and closes the gap, so that later entries remain reachable.
    fileprivate mutating func remove(_ row: UInt32, _ hash: UInt64, hashOf: (UInt32) -> UInt64) -> Bool {
        guard !slots.isEmpty else { return false }
        let (slot, mask) = (mark(hash) | row, mask)
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

    /// - Parameter row: the highest row to be inserted.
    fileprivate mutating func rebuild(for count: Int, holding row: UInt32, hashOf: (UInt32) -> UInt64) {
        let (old, oldMask) = (slots, mask)
        while row >= mask, rowBits < 32 { rowBits += 1 }
        // Two thirds full, three quarters on average until the next rebuild: 5.5 bytes per row.
        slots = Array(repeating: .max, count: max(8, count * 3 / 2))
        for slot in old where slot != .max { put(slot & oldMask, hashOf(slot & oldMask)) }
    }
}
