/// Which registrations a tag expression names.
///
/// Registrations are places: dense 32-bit numbers, of which 65,536 make a block. A tag of many registrations is a compressed set of
/// their places; one of few, as the name of a user is, stands in a table by its fingerprint at 17 bytes a registration, and its
/// letters are not kept: whoever needs them reads the registrations that have it (`firstPlace`).
///
/// A value: a reader who copies it goes on with what it was while the original changes. A copy is made in no time, and the first
/// change after it copies the set of each tag that it touches.
package struct AudienceIndex: Sendable {
    /// Most registrations of a tag that stands in the table: up to about as many, a set of its own takes more memory.
    package static let mostRare = 64

    private let key: FingerprintKey
    private let mostRare: Int
    /// The places of each tag of few registrations.
    private var rare = FingerprintTable()
    /// Where the other tags stand in `sets` and `names`.
    private var shared = FingerprintTable()
    private var sets: [PlaceSet] = []
    private var names: [Tag?] = []
    /// Unused numbers in `sets`.
    private var free: [UInt32] = []
    /// Everybody: the universe for a negation.
    package private(set) var live = PlaceSet()

    package init() { self.init(key: .process) }

    init(key: FingerprintKey, mostRare: Int = Self.mostRare) {
        self.key = key
        self.mostRare = mostRare
    }

    /// Registrations.
    package var count: Int { live.count }
}

// MARK: - Changes

extension AudienceIndex {
    package mutating func insert(_ id: UInt32, tags: [Tag]) { update(id, from: [], to: tags) }

    /// - Parameter tags: those that it was inserted with.
    package mutating func remove(_ id: UInt32, tags: [Tag]) {
        live.remove(id)
        for tag in tags { remove(id, from: key.fingerprint(of: tag)) }
    }

    /// A registration whose tags were `old` has the tags `new` now. Only the difference is touched.
    package mutating func update(_ id: UInt32, from old: [Tag], to new: [Tag]) {
        live.insert(id)
        guard !old.isEmpty else {
            for tag in new { add(id, to: tag) }
            return
        }
        guard old != new else { return }
        let (before, after) = (old.map(key.fingerprint), new.map(key.fingerprint))
        let (had, has) = (Set(before), Set(after))
        for fingerprint in before where !has.contains(fingerprint) { remove(id, from: fingerprint) }
        for (tag, fingerprint) in zip(new, after) where !had.contains(fingerprint) { add(id, to: tag, fingerprint) }
    }

    /// Takes the least memory for what it holds: after many registrations have come at once.
    package mutating func compact() {
        live.compact()
        for number in sets.indices { sets[number].compact() }
        rare.compact()
        shared.compact()
    }

    private mutating func add(_ id: UInt32, to tag: Tag) { add(id, to: tag, key.fingerprint(of: tag)) }

    private mutating func add(_ id: UInt32, to tag: Tag, _ fingerprint: TagFingerprint) {
        if let number = shared.first(of: fingerprint) {
            sets[Int(number)].insert(id)
        } else if let count = rare.insert(id, of: fingerprint), count > mostRare {
            share(tag, fingerprint)
        }
    }

    private mutating func remove(_ id: UInt32, from fingerprint: TagFingerprint) {
        guard let number = shared.first(of: fingerprint) else {
            rare.remove(id, of: fingerprint)
            return
        }
        sets[Int(number)].remove(id)
        // Half: a tag that comes and goes at the border does not move each time.
        if sets[Int(number)].count <= mostRare / 2 { unshare(Int(number), fingerprint) }
    }

    private mutating func share(_ tag: Tag, _ fingerprint: TagFingerprint) {
        let places = PlaceSet(rare.numbers(of: fingerprint))
        rare.removeAll(of: fingerprint)
        if let number = free.popLast() {
            sets[Int(number)] = places
            names[Int(number)] = tag
            _ = shared.insert(number, of: fingerprint)
        } else {
            _ = shared.insert(UInt32(sets.count), of: fingerprint)
            sets.append(places)
            names.append(tag)
        }
    }

    private mutating func unshare(_ number: Int, _ fingerprint: TagFingerprint) {
        for place in sets[number].places { _ = rare.insert(place, of: fingerprint) }
        sets[number] = PlaceSet()
        names[number] = nil
        free.append(UInt32(number))
        shared.removeAll(of: fingerprint)
    }
}

// MARK: - Tags

extension AudienceIndex {
    /// Registrations with a tag.
    package func count(of tag: Tag) -> Int {
        let fingerprint = key.fingerprint(of: tag)
        return shared.first(of: fingerprint).map { sets[Int($0)].count } ?? rare.count(of: fingerprint)
    }

    /// The first `count` ids with a tag from `first` on, ascending.
    package func ids(of tag: Tag, from first: UInt32, count: Int) -> [UInt32] {
        let fingerprint = key.fingerprint(of: tag)
        if let number = shared.first(of: fingerprint) { return sets[Int(number)].places(from: first, count: count) }
        return Array(rare.numbers(of: fingerprint).lazy.filter { $0 >= first }.prefix(count))
    }

    /// The least id with a tag. Whoever goes through all registrations and names each tag at its first place names every tag once.
    package func firstPlace(of tag: Tag) -> UInt32? {
        let fingerprint = key.fingerprint(of: tag)
        guard let number = shared.first(of: fingerprint) else { return rare.first(of: fingerprint) }
        return sets[Int(number)].places(from: 0, count: 1).first
    }

    /// Different tags in use.
    package var tagCount: Int { shared.count + rare.fingerprintCount }

    /// The tags in use of which names are kept: all of more than `mostRare` registrations, few others.
    package var sharedTags: some Sequence<Tag> { names.lazy.compactMap { $0 } }

    /// Where a tag is, as the evaluation takes it.
    func places(of tag: Tag) -> PlaceSet {
        let fingerprint = key.fingerprint(of: tag)
        return shared.first(of: fingerprint).map { sets[Int($0)] } ?? PlaceSet(rare.numbers(of: fingerprint))
    }
}

// MARK: - Selection

extension AudienceIndex {
    /// Whom the expression names; everybody for nil. It stays what it is, whatever comes and goes afterwards.
    package func selection(_ expression: TagExpression?) -> PlaceSet {
        guard let expression else { return live }
        return AudiencePlan(expression, of: self).selection
    }

    /// The ids that the expression names, ascending; everybody for nil.
    package func select(_ expression: TagExpression?) -> [UInt32] { selection(expression).places }

    /// No fewer than the expression names; found in the time that its length takes.
    package func upperBound(_ expression: TagExpression) -> Int {
        switch expression {
        case .tag(let tag): count(of: tag)
        case .not: count
        case .or(let terms): min(count, terms.reduce(0) { $0 + upperBound($1) })
        case .and(let terms): terms.map(upperBound).min() ?? count
        }
    }
}

// MARK: - Loading

extension AudienceIndex {
    /// Builds an index of many registrations, several times as fast as one by one.
    package struct Loader: Sendable {
        /// Places of a tag that go to its set together.
        private static let batch = 4096

        private var index: AudienceIndex
        /// By the numbers of `index.sets`: what is still to be inserted there.
        private var waiting: [[UInt32]] = []
        private var ids: [UInt32] = []

        package init() { self.init(AudienceIndex()) }

        init(_ index: AudienceIndex) { self.index = index }

        /// Ids that ascend are the fastest; each comes once.
        package mutating func insert(_ id: UInt32, tags: [Tag]) {
            ids.append(id)
            if ids.count == Self.batch { Self.flush(&ids, to: &index.live) }
            for tag in tags {
                let fingerprint = index.key.fingerprint(of: tag)
                if let number = index.shared.first(of: fingerprint) {
                    insert(id, at: Int(number))
                } else {
                    index.add(id, to: tag, fingerprint)
                }
            }
        }

        /// The index with all of them, in the least memory.
        package consuming func finish() -> AudienceIndex {
            flush()
            index.compact()
            return index
        }

        private mutating func flush() {
            Self.flush(&ids, to: &index.live)
            for number in waiting.indices { Self.flush(&waiting[number], to: &index.sets[number]) }
        }

        private mutating func insert(_ id: UInt32, at number: Int) {
            while waiting.count <= number { waiting.append([]) }
            waiting[number].append(id)
            if waiting[number].count == Self.batch { Self.flush(&waiting[number], to: &index.sets[number]) }
        }

        private static func flush(_ places: inout [UInt32], to set: inout PlaceSet) {
            set.insert(contentsOf: places)
            places.removeAll(keepingCapacity: true)
        }
    }
}
