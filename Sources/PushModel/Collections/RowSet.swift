import CRoaring

/// A compressed set of rows: a CRoaring bitmap, in which a block of 65,536 rows shares a container.
///
/// A value type with copy-on-write: a copy is free until either one changes, which copies the whole set.
package struct RowSet: Sendable {
    /// A bitmap that frees its memory with its last reference.
    // @unchecked: the bitmap is modified only while uniquely referenced, so any number of threads may read it.
    private final class Bitmap: @unchecked Sendable {
        let bitmap: UnsafeMutablePointer<roaring_bitmap_t>

        init(_ bitmap: UnsafeMutablePointer<roaring_bitmap_t>) { self.bitmap = bitmap }

        deinit { roaring_bitmap_free(bitmap) }
    }

    private var storage: Bitmap
    package private(set) var count: Int

    package init() { self.init(roaring_bitmap_create(), count: 0) }

    /// Accepts any order; ascending is fastest.
    package init(_ rows: [UInt32]) { self.init(roaring_bitmap_of_ptr(rows.count, rows)) }

    /// Takes ownership of the bitmap.
    private init(_ bitmap: UnsafeMutablePointer<roaring_bitmap_t>, count: Int? = nil) {
        storage = Bitmap(bitmap)
        self.count = count ?? Int(roaring_bitmap_get_cardinality(bitmap))
    }

    package var isEmpty: Bool { count == 0 }

    /// Number of blocks from 0 through the last one with a row.
    package var blockCount: Int { isEmpty ? 0 : Int(roaring_bitmap_maximum(storage.bitmap) >> 16) + 1 }

    package func contains(_ row: UInt32) -> Bool { roaring_bitmap_contains(storage.bitmap, row) }
}

// MARK: - Changes

extension RowSet {
    /// Returns whether the row was added.
    @discardableResult
    package mutating func insert(_ row: UInt32) -> Bool {
        makeUnique()
        guard roaring_bitmap_add_checked(storage.bitmap, row) else { return false }
        count += 1
        return true
    }

    /// Returns whether the row was removed.
    @discardableResult
    package mutating func remove(_ row: UInt32) -> Bool {
        makeUnique()
        guard roaring_bitmap_remove_checked(storage.bitmap, row) else { return false }
        count -= 1
        return true
    }

    /// Accepts any order; ascending is fastest.
    package mutating func insert(contentsOf rows: [UInt32]) {
        makeUnique()
        roaring_bitmap_add_many(storage.bitmap, rows.count, rows)
        count = Int(roaring_bitmap_get_cardinality(storage.bitmap))
    }

    /// Frees spare capacity. Does not use run-length encoding: it saves at most 1/8 byte per row, and later removals within a run would
    /// have to move the runs after it.
    package mutating func compact() {
        makeUnique()
        roaring_bitmap_shrink_to_fit(storage.bitmap)
    }

    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&storage) { storage = Bitmap(roaring_bitmap_copy(storage.bitmap)) }
    }
}

// MARK: - Algebra

extension RowSet {
    package mutating func formIntersection(_ other: RowSet) {
        if count > other.count, isKnownUniquelyReferenced(&storage) {
            roaring_bitmap_and_inplace(storage.bitmap, other.storage.bitmap)
        } else {
            // With two sorted lists, CRoaring is fastest if the longer one comes first, because it can skip in it.
            let (many, few) = count > other.count ? (self, other) : (other, self)
            storage = Bitmap(roaring_bitmap_and(many.storage.bitmap, few.storage.bitmap))
        }
        count = Int(roaring_bitmap_get_cardinality(storage.bitmap))
    }

    package mutating func subtract(_ other: RowSet) {
        if isKnownUniquelyReferenced(&storage) {
            roaring_bitmap_andnot_inplace(storage.bitmap, other.storage.bitmap)
        } else {
            storage = Bitmap(roaring_bitmap_andnot(storage.bitmap, other.storage.bitmap))
        }
        count = Int(roaring_bitmap_get_cardinality(storage.bitmap))
    }

    package mutating func formUnion(_ other: RowSet) {
        if isKnownUniquelyReferenced(&storage) {
            roaring_bitmap_or_inplace(storage.bitmap, other.storage.bitmap)
        } else {
            storage = Bitmap(roaring_bitmap_or(storage.bitmap, other.storage.bitmap))
        }
        count = Int(roaring_bitmap_get_cardinality(storage.bitmap))
    }

    /// Number of rows in both sets, without building the intersection.
    package func countCommon(_ other: RowSet) -> Int {
        Int(roaring_bitmap_and_cardinality(storage.bitmap, other.storage.bitmap))
    }

    /// Unites many sets at once, which is faster than one after the other.
    package static func union(_ sets: [RowSet]) -> RowSet {
        guard sets.count > 2 else {
            guard var union = sets.first else { return RowSet() }
            if let other = sets.dropFirst().first { union.formUnion(other) }
            return union
        }
        var bitmaps: [UnsafePointer<roaring_bitmap_t>?] = sets.map { UnsafePointer($0.storage.bitmap) }
        return withExtendedLifetime(sets) { RowSet(roaring_bitmap_or_many(bitmaps.count, &bitmaps)) }
    }
}

// MARK: - Reading

extension RowSet {
    /// All rows, ascending.
    package var rows: [UInt32] {
        Array(unsafeUninitializedCapacity: count) { buffer, written in
            guard let start = buffer.baseAddress, count > 0 else { return }
            roaring_bitmap_to_uint32_array(storage.bitmap, start)
            written = count
        }
    }

    /// Up to `count` rows starting at `first`, ascending.
    package func rows(from first: UInt32, count: Int) -> [UInt32] {
        var cursor = roaring_uint32_iterator_t()
        roaring_init_iterator(storage.bitmap, &cursor)
        guard roaring_move_uint32_iterator_equalorlarger(&cursor, first) else { return [] }
        return Array(unsafeUninitializedCapacity: min(count, self.count)) { buffer, written in
            written = Int(roaring_read_uint32_iterator(&cursor, buffer.baseAddress, UInt32(min(count, self.count))))
        }
    }

    /// The rows block by block, so that at most 65,536 are in memory at once.
    package var blocks: Blocks { Blocks(set: self) }

    /// The non-empty blocks of a set, ascending.
    package struct Blocks: Sequence, IteratorProtocol, Sendable {
        package struct Block: Sendable, Equatable {
            /// The upper 16 bits that the block's rows share.
            package var number: UInt16
            /// The rows of the block, ascending.
            package var rows: [UInt32]
        }

        fileprivate let set: RowSet
        /// The next row to examine; nil after the last block.
        private var first: UInt32? = 0

        fileprivate init(set: RowSet) { self.set = set }

        package mutating func next() -> Block? {
            guard let first, let least = set.rows(from: first, count: 1).first else { return nil }
            let number = least >> 16
            let end = UInt64(number + 1) << 16
            let size = roaring_bitmap_range_cardinality(set.storage.bitmap, UInt64(least), end)
            self.first = UInt32(exactly: end)
            return Block(number: UInt16(number), rows: set.rows(from: least, count: Int(size)))
        }
    }
}

extension RowSet: Equatable {
    package static func == (left: RowSet, right: RowSet) -> Bool {
        left.count == right.count && roaring_bitmap_equals(left.storage.bitmap, right.storage.bitmap)
    }
}

extension RowSet {
    package func subtracting(_ other: RowSet) -> RowSet {
        var set = self
        set.subtract(other)
        return set
    }

    package func union(_ other: RowSet) -> RowSet {
        var set = self
        set.formUnion(other)
        return set
    }
}
