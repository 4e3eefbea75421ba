import CRoaring

/// A set of places, compressed: CRoaring's bitmap, where 65,536 places, a block, share a container.
///
/// A value. A copy costs nothing until one of the two changes, which copies all that it holds first.
package struct PlaceSet: Sendable {
    /// Owns a bitmap.
    // @unchecked: the bitmap is changed only where nobody else refers to the storage, so any number of threads may read it.
    private final class Storage: @unchecked Sendable {
        let bitmap: UnsafeMutablePointer<roaring_bitmap_t>

        init(_ bitmap: UnsafeMutablePointer<roaring_bitmap_t>) { self.bitmap = bitmap }

        deinit { roaring_bitmap_free(bitmap) }
    }

    private var storage: Storage
    package private(set) var count: Int

    package init() { self.init(roaring_bitmap_create(), count: 0) }

    /// In any order; fastest when ascending.
    package init(_ places: [UInt32]) { self.init(roaring_bitmap_of_ptr(places.count, places)) }

    /// Takes the bitmap over.
    private init(_ bitmap: UnsafeMutablePointer<roaring_bitmap_t>, count: Int? = nil) {
        storage = Storage(bitmap)
        self.count = count ?? Int(roaring_bitmap_get_cardinality(bitmap))
    }

    package var isEmpty: Bool { count == 0 }

    /// Blocks from 0 to the last one with a place.
    package var blockCount: Int { isEmpty ? 0 : Int(roaring_bitmap_maximum(storage.bitmap) >> 16) + 1 }

    package func contains(_ place: UInt32) -> Bool { roaring_bitmap_contains(storage.bitmap, place) }
}

// MARK: - Changes

extension PlaceSet {
    /// Answers whether it is news.
    @discardableResult
    package mutating func insert(_ place: UInt32) -> Bool {
        makeUnique()
        guard roaring_bitmap_add_checked(storage.bitmap, place) else { return false }
        count += 1
        return true
    }

    /// Answers whether it was there.
    @discardableResult
    package mutating func remove(_ place: UInt32) -> Bool {
        makeUnique()
        guard roaring_bitmap_remove_checked(storage.bitmap, place) else { return false }
        count -= 1
        return true
    }

    /// In any order; fastest when ascending.
    package mutating func insert(contentsOf places: [UInt32]) {
        makeUnique()
        roaring_bitmap_add_many(storage.bitmap, places.count, places)
        count = Int(roaring_bitmap_get_cardinality(storage.bitmap))
    }

    /// Gives back what was kept for more places. Runs of places are not written as such: that saves an eighth of a byte a place at
    /// most, and makes each later removal in the middle of a run move the runs behind it.
    package mutating func compact() {
        makeUnique()
        roaring_bitmap_shrink_to_fit(storage.bitmap)
    }

    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(roaring_bitmap_copy(storage.bitmap)) }
    }
}

// MARK: - Algebra

extension PlaceSet {
    package mutating func formIntersection(_ other: PlaceSet) {
        if count > other.count, isKnownUniquelyReferenced(&storage) {
            roaring_bitmap_and_inplace(storage.bitmap, other.storage.bitmap)
        } else {
            // Of two sorted lists the longer one comes first: skipping in it is what CRoaring does fastest.
            let (many, few) = count > other.count ? (self, other) : (other, self)
            storage = Storage(roaring_bitmap_and(many.storage.bitmap, few.storage.bitmap))
        }
        count = Int(roaring_bitmap_get_cardinality(storage.bitmap))
    }

    package mutating func subtract(_ other: PlaceSet) {
        if isKnownUniquelyReferenced(&storage) {
            roaring_bitmap_andnot_inplace(storage.bitmap, other.storage.bitmap)
        } else {
            storage = Storage(roaring_bitmap_andnot(storage.bitmap, other.storage.bitmap))
        }
        count = Int(roaring_bitmap_get_cardinality(storage.bitmap))
    }

    package mutating func formUnion(_ other: PlaceSet) {
        if isKnownUniquelyReferenced(&storage) {
            roaring_bitmap_or_inplace(storage.bitmap, other.storage.bitmap)
        } else {
            storage = Storage(roaring_bitmap_or(storage.bitmap, other.storage.bitmap))
        }
        count = Int(roaring_bitmap_get_cardinality(storage.bitmap))
    }

    /// How many are in both, without a set of them.
    package func countCommon(_ other: PlaceSet) -> Int {
        Int(roaring_bitmap_and_cardinality(storage.bitmap, other.storage.bitmap))
    }

    /// Many at once: cheaper than one after the other.
    static func union(_ sets: [PlaceSet]) -> PlaceSet {
        guard sets.count > 2 else {
            guard var union = sets.first else { return PlaceSet() }
            if let other = sets.dropFirst().first { union.formUnion(other) }
            return union
        }
        var bitmaps: [UnsafePointer<roaring_bitmap_t>?] = sets.map { UnsafePointer($0.storage.bitmap) }
        return withExtendedLifetime(sets) { PlaceSet(roaring_bitmap_or_many(bitmaps.count, &bitmaps)) }
    }
}

// MARK: - Reading

extension PlaceSet {
    /// All places, ascending.
    package var places: [UInt32] {
        Array(unsafeUninitializedCapacity: count) { buffer, written in
            guard let start = buffer.baseAddress, count > 0 else { return }
            roaring_bitmap_to_uint32_array(storage.bitmap, start)
            written = count
        }
    }

    /// The first `count` places from `first` on, ascending.
    package func places(from first: UInt32, count: Int) -> [UInt32] {
        var cursor = roaring_uint32_iterator_t()
        roaring_init_iterator(storage.bitmap, &cursor)
        guard roaring_move_uint32_iterator_equalorlarger(&cursor, first) else { return [] }
        return Array(unsafeUninitializedCapacity: min(count, self.count)) { buffer, written in
            written = Int(roaring_read_uint32_iterator(&cursor, buffer.baseAddress, UInt32(min(count, self.count))))
        }
    }

    /// Those of each block that has any, block by block: never more than 65,536 of them in memory.
    package var blocks: Blocks { Blocks(set: self) }

    /// The blocks of a set, ascending, each with its places.
    package struct Blocks: Sequence, IteratorProtocol, Sendable {
        package struct Block: Sendable, Equatable {
            /// Its places are those that begin with these 16 bits.
            package var number: UInt16
            /// Ascending, never empty.
            package var places: [UInt32]
        }

        fileprivate let set: PlaceSet
        /// Where to go on; nil behind the last block.
        private var first: UInt32? = 0

        fileprivate init(set: PlaceSet) { self.set = set }

        package mutating func next() -> Block? {
            guard let first, let least = set.places(from: first, count: 1).first else { return nil }
            let number = least >> 16
            let end = UInt64(number + 1) << 16
            let size = roaring_bitmap_range_cardinality(set.storage.bitmap, UInt64(least), end)
            self.first = UInt32(exactly: end)
            return Block(number: UInt16(number), places: set.places(from: least, count: Int(size)))
        }
    }
}

extension PlaceSet: Equatable {
    package static func == (left: PlaceSet, right: PlaceSet) -> Bool {
        left.count == right.count && roaring_bitmap_equals(left.storage.bitmap, right.storage.bitmap)
    }
}
