/// Which registrations a tag expression names.
///
/// Registrations are places: dense 32-bit numbers, of which 65,536 make a block. A tag of many registrations is a compressed set of
/// their places; one of few, as the name of a user is, stands in a table by its fingerprint at 17 bytes a registration. The letters
/// of tags are not kept: whoever needs them reads the registrations that have them (`firstPlace`).
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
    /// Where the other tags stand in `sets`.
    private var shared = FingerprintTable()
    private var sets: [PlaceSet] = []
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
            for tag in new { add(id, to: key.fingerprint(of: tag)) }
            return
        }
        guard max(old.count, new.count) < Self.many else { return update(id, from: Set(old), to: Set(new)) }
        // Most tags stay, and where they are: comparing costs less than hashing.
        for (place, tag) in old.enumerated() where !Self.has(new, tag, at: place) { remove(id, from: key.fingerprint(of: tag)) }
        for (place, tag) in new.enumerated() where !Self.has(old, tag, at: place) { add(id, to: key.fingerprint(of: tag)) }
    }

    /// From so many tags on a registration, sets of them pay.
    private static let many = 24

    private mutating func update(_ id: UInt32, from old: Set<Tag>, to new: Set<Tag>) {
        for tag in old where !new.contains(tag) { remove(id, from: key.fingerprint(of: tag)) }
        for tag in new where !old.contains(tag) { add(id, to: key.fingerprint(of: tag)) }
    }

    private static func has(_ tags: [Tag], _ tag: Tag, at place: Int) -> Bool {
        place < tags.count && tags[place] == tag || tags.contains(tag)
    }

    /// Gives back what was kept for more: after many registrations have come at once.
    package mutating func compact() {
        live.compact()
        for number in sets.indices { sets[number].compact() }
        rare.compact()
        shared.compact()
    }

    private mutating func add(_ id: UInt32, to fingerprint: TagFingerprint) {
        if let number = shared.first(of: fingerprint) {
            sets[Int(number)].insert(id)
        } else if let count = rare.insert(id, of: fingerprint), count > mostRare {
            share(fingerprint)
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

    private mutating func share(_ fingerprint: TagFingerprint) {
        let places = PlaceSet(rare.numbers(of: fingerprint))
        rare.removeAll(of: fingerprint)
        if let number = free.popLast() {
            sets[Int(number)] = places
            _ = shared.insert(number, of: fingerprint)
        } else {
            _ = shared.insert(UInt32(sets.count), of: fingerprint)
            sets.append(places)
        }
    }

    private mutating func unshare(_ number: Int, _ fingerprint: TagFingerprint) {
        for place in sets[number].places { _ = rare.insert(place, of: fingerprint) }
        sets[number] = PlaceSet()
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

    /// Those of them that have a set.
    var sharedCount: Int { shared.count }

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
        /// Places of a tag that go to its set together, and of rare ones at first.
        private static let batch = 4096
        /// Most entries of rare tags that wait.
        private static let longest = 1 << 20

        private var index: AudienceIndex
        private var ids: [UInt32] = []
        /// By the numbers of `index.sets`: what is still to be inserted there.
        private var waiting: [[UInt32]] = []
        /// What is still to be inserted into `index.rare`, among it tags that turn out to be shared.
        private var rare: [FingerprintTable.Entry] = []
        /// The numbers of sets by tags as they are written.
        private var numbers = SharedTagCache()

        /// A tag that was read.
        enum ReadTag: Sendable {
            /// With the number of its set.
            case shared(UInt32)
            case rare(TagFingerprint)
        }

        package init() { self.init(AudienceIndex()) }

        init(_ index: AudienceIndex) { self.index = index }

        /// Ids that ascend are the fastest; each comes once.
        package mutating func insert(_ id: UInt32, tags: [Tag]) { insert(id, tags.map { found(index.key.fingerprint(of: $0)) }) }

        /// - Parameter tags: read since the last insertion.
        mutating func insert(_ id: UInt32, _ tags: [ReadTag]) {
            ids.append(id)
            if ids.count == Self.batch { Self.flush(&ids, to: &index.live) }
            for tag in tags {
                switch tag {
                case .shared(let number): insert(id, at: Int(number))
                case .rare(let fingerprint): rare.append(FingerprintTable.Entry(fingerprint, id))
                }
            }
            // Half of what is there: each entry is merged a few times, however many there are.
            if rare.count >= max(Self.batch, min(Self.longest, index.rare.count / 2)) { flushRare() }
        }

        /// The tags that start with `$` that a registration of an installation may have. The hub gives them out, and clients could once
        /// bring others.
        struct Addresses {
            let installation: String
            /// Of `$UserId:{…}`; nil for an installation without a user.
            let user: TagFingerprint?
        }

        func fingerprint(of tag: Tag) -> TagFingerprint { index.key.fingerprint(of: tag) }

        /// Whether the hub gives this tag to the registrations of that installation.
        func isAddress(_ tag: Tag, _ addresses: Addresses) -> Bool {
            fingerprint(of: tag) == addresses.user || tag.isAddress(of: addresses.installation)
        }

        /// Reads the tags of a row, without those that start with `$` and are not the hub's.
        ///
        /// - Parameters:
        ///   - text: tags with commas between them. Throws `tag.invalid`.
        ///   - tags: they, in the place of what there was.
        ///   - addresses: nil for a standalone registration, to which the hub gives no such tags.
        /// - Returns: whether a tag was left out.
        @discardableResult
        mutating func read(
            _ text: UnsafeRawBufferPointer, into tags: inout [ReadTag], of addresses: Addresses? = nil
        ) throws(PushError) -> Bool {
            tags.removeAll(keepingCapacity: true)
            guard !text.isEmpty else { return false }
            var isLeftOut = false
            var start = 0
            repeat {
                let end = Self.comma(in: text, from: start)
                let part = UnsafeRawBufferPointer(rebasing: text[start..<end])
                if part.first != UInt8(ascii: "$") {
                    tags.append(try read(part))
                } else if let addresses, let tag = try read(part, of: addresses) {
                    tags.append(tag)
                } else {
                    isLeftOut = true
                }
                start = end + 1
            } while start <= text.count
            return isLeftOut
        }

        /// Nil for a tag that the hub did not give to that installation.
        private func read(_ text: UnsafeRawBufferPointer, of addresses: Addresses) throws(PushError) -> ReadTag? {
            let text = String(decoding: text, as: UTF8.self)
            let tag: Tag
            do throws(TagError) {
                tag = try Tag(text)
            } catch {
                throw PushError(error)
            }
            return isAddress(tag, addresses) ? found(fingerprint(of: tag)) : nil
        }

        /// Where the next comma is, or the end; looked for eight bytes at a time.
        private static func comma(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
            let (ones, commas): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x2C2C_2C2C_2C2C_2C2C)
            var place = start
            while place + 8 <= text.count {
                let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ commas
                // The lowest byte that is zero now has the lowest bit of these.
                let zeros = (word &- ones) & ~word & (ones << 7)
                if zeros != 0 { return place + zeros.trailingZeroBitCount / 8 }
                place += 8
            }
            while place < text.count, text[place] != UInt8(ascii: ",") { place += 1 }
            return place
        }

        private mutating func read(_ text: UnsafeRawBufferPointer) throws(PushError) -> ReadTag {
            if let number = numbers.number(of: text) { return .shared(number) }
            let tag = found(try fingerprint(text))
            if case .shared(let number) = tag { numbers.keep(number, of: text) }
            return tag
        }

        private func found(_ fingerprint: TagFingerprint) -> ReadTag {
            index.shared.first(of: fingerprint).map { .shared($0) } ?? .rare(fingerprint)
        }

        private func fingerprint(_ text: UnsafeRawBufferPointer) throws(PushError) -> TagFingerprint {
            if let fingerprint = index.key.fingerprint(ofPlain: text) { return fingerprint }
            do throws(TagError) {
                return index.key.fingerprint(of: try Tag(String(decoding: text, as: UTF8.self)))
            } catch {
                throw PushError(error)
            }
        }

        /// The index with all of them, in the least memory.
        package consuming func finish() -> AudienceIndex {
            flush()
            index.compact()
            return index
        }

        private mutating func flush() {
            flushRare()
            Self.flush(&ids, to: &index.live)
            for number in waiting.indices { Self.flush(&waiting[number], to: &index.sets[number]) }
        }

        private mutating func insert(_ id: UInt32, at number: Int) {
            while waiting.count <= number { waiting.append([]) }
            waiting[number].append(id)
            if waiting[number].count == Self.batch { Self.flush(&waiting[number], to: &index.sets[number]) }
        }

        private mutating func flushRare() {
            for fingerprint in index.rare.insert(contentsOf: rare, limit: index.mostRare) { index.share(fingerprint) }
            rare.removeAll(keepingCapacity: true)
        }

        private static func flush(_ places: inout [UInt32], to set: inout PlaceSet) {
            set.insert(contentsOf: places)
            places.removeAll(keepingCapacity: true)
        }
    }
}
