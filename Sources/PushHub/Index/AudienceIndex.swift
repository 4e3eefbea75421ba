package import PushModel

/// Finds the registrations that match a tag expression.
///
/// Registrations are rows: dense 32-bit numbers, in blocks of 65,536. A tag with many registrations has a compressed set of their rows.
/// A tag with few, such as a user name, is in a table by its fingerprint, at 17 bytes per registration. The text of tags is not
/// stored; callers that need it read the registrations that have them (`firstRow`).
///
/// A value type: a copy keeps the state at which it was made. Copying takes constant time; the first change afterwards copies the set
/// of each tag that it modifies.
package struct AudienceIndex: Sendable {
    /// Maximum number of registrations of a tag in the table. Beyond about this number, a set of its own needs less memory.
    package static let rareLimit = 64

    private let key: FingerprintKey
    private let rareLimit: Int
    /// The rows of each tag with few registrations.
    private var rare = FingerprintTable()
    /// For all other tags, the index of their set in `sets`.
    private var shared = FingerprintTable()
    private var sets: [RowSet] = []
    /// Unused indices in `sets`.
    private var free: [UInt32] = []
    /// All registrations: the universe for negations.
    package private(set) var live = RowSet()

    package init() { self.init(key: .process) }

    init(key: FingerprintKey, rareLimit: Int = Self.rareLimit) {
        self.key = key
        self.rareLimit = rareLimit
    }

    /// Number of registrations.
    package var count: Int { live.count }
}

// MARK: - Changes

extension AudienceIndex {
    package mutating func insert(_ id: UInt32, tags: [Tag]) { update(id, from: [], to: tags) }

    /// - Parameter tags: the tags that the registration was inserted with.
    package mutating func remove(_ id: UInt32, tags: [Tag]) {
        live.remove(id)
        for tag in tags { remove(id, from: key.fingerprint(of: tag)) }
    }

    /// Changes the tags of a registration from `old` to `new`. Only differences are modified.
    package mutating func update(_ id: UInt32, from old: [Tag], to new: [Tag]) {
        live.insert(id)
        guard !old.isEmpty else {
            for tag in new { add(id, to: key.fingerprint(of: tag)) }
            return
        }
        guard max(old.count, new.count) < Self.many else { return update(id, from: Set(old), to: Set(new)) }
        // Most tags stay at their position, and comparing costs less than hashing.
        for (index, tag) in old.enumerated() where !Self.has(new, tag, at: index) { remove(id, from: key.fingerprint(of: tag)) }
        for (index, tag) in new.enumerated() where !Self.has(old, tag, at: index) { add(id, to: key.fingerprint(of: tag)) }
    }

    /// Number of tags from which sets are faster than arrays.
    private static let many = 24

    private mutating func update(_ id: UInt32, from old: Set<Tag>, to new: Set<Tag>) {
        for tag in old where !new.contains(tag) { remove(id, from: key.fingerprint(of: tag)) }
        for tag in new where !old.contains(tag) { add(id, to: key.fingerprint(of: tag)) }
    }

    private static func has(_ tags: [Tag], _ tag: Tag, at index: Int) -> Bool {
        index < tags.count && tags[index] == tag || tags.contains(tag)
    }

    /// Frees spare capacity, for use after bulk insertions.
    package mutating func compact() {
        live.compact()
        for number in sets.indices { sets[number].compact() }
        rare.compact()
        shared.compact()
    }

    private mutating func add(_ id: UInt32, to fingerprint: TagFingerprint) {
        if let number = shared.first(of: fingerprint) {
            sets[Int(number)].insert(id)
        } else if let count = rare.insert(id, of: fingerprint), count > rareLimit {
            share(fingerprint)
        }
    }

    private mutating func remove(_ id: UInt32, from fingerprint: TagFingerprint) {
        guard let number = shared.first(of: fingerprint) else {
            rare.remove(id, of: fingerprint)
            return
        }
        sets[Int(number)].remove(id)
        // At half the threshold, so that a tag near it does not move back and forth.
        if sets[Int(number)].count <= rareLimit / 2 { makeRare(Int(number), fingerprint) }
    }

    private mutating func share(_ fingerprint: TagFingerprint) {
        let rows = RowSet(rare.numbers(of: fingerprint))
        rare.removeAll(of: fingerprint)
        if let number = free.popLast() {
            sets[Int(number)] = rows
            _ = shared.insert(number, of: fingerprint)
        } else {
            _ = shared.insert(UInt32(sets.count), of: fingerprint)
            sets.append(rows)
        }
    }

    private mutating func makeRare(_ number: Int, _ fingerprint: TagFingerprint) {
        for row in sets[number].rows { _ = rare.insert(row, of: fingerprint) }
        sets[number] = RowSet()
        free.append(UInt32(number))
        shared.removeAll(of: fingerprint)
    }
}

// MARK: - Tags

extension AudienceIndex {
    /// Number of registrations with a tag.
    package func count(of tag: Tag) -> Int {
        let fingerprint = key.fingerprint(of: tag)
        return shared.first(of: fingerprint).map { sets[Int($0)].count } ?? rare.count(of: fingerprint)
    }

    /// Up to `count` rows with a tag, starting at `first`, ascending.
    package func ids(of tag: Tag, from first: UInt32, count: Int) -> [UInt32] {
        let fingerprint = key.fingerprint(of: tag)
        if let number = shared.first(of: fingerprint) { return sets[Int(number)].rows(from: first, count: count) }
        return Array(rare.numbers(of: fingerprint).lazy.filter { $0 >= first }.prefix(count))
    }

    /// The lowest row with a tag. Lists each tag once when all registrations are visited in order.
    package func firstRow(of tag: Tag) -> UInt32? {
        let fingerprint = key.fingerprint(of: tag)
        guard let number = shared.first(of: fingerprint) else { return rare.first(of: fingerprint) }
        return sets[Int(number)].rows(from: 0, count: 1).first
    }

    /// Number of distinct tags in use.
    package var tagCount: Int { shared.count + rare.fingerprintCount }

    /// Number of tags with a set of their own.
    var sharedCount: Int { shared.count }

    /// All rows with a tag.
    func rows(of tag: Tag) -> RowSet {
        let fingerprint = key.fingerprint(of: tag)
        return shared.first(of: fingerprint).map { sets[Int($0)] } ?? RowSet(rare.numbers(of: fingerprint))
    }
}

// MARK: - Selection

extension AudienceIndex {
    /// The registrations that match the expression (nil: all). Later changes of the index do not affect the result.
    package func selection(_ expression: TagExpression?) -> RowSet {
        guard let expression else { return live }
        return AudiencePlan(expression, of: self).selection
    }

    /// The rows that match the expression (nil: all), ascending.
    package func select(_ expression: TagExpression?) -> [UInt32] { selection(expression).rows }

    /// An upper bound for the number of devices of an audience, without looking them up.
    func upperBound(_ audience: Audience) -> Int {
        switch audience {
        case .everyone: count
        case .expression(let expression): upperBound(expression)
        case .device: 1
        case .devices(let handles): handles.count
        }
    }

    /// An upper bound for the number of matches, in time proportional to the length of the expression.
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
    /// Builds an index of many registrations several times faster than single insertions.
    package struct Loader: Sendable {
        /// Number of buffered rows per set before they are inserted; minimum for rare tags.
        private static let batch = 4096
        /// Maximum number of buffered entries of rare tags.
        private static let longest = 1 << 20

        private var index: AudienceIndex
        private var ids: [UInt32] = []
        /// Rows to insert, by index in `index.sets`.
        private var waiting: [[UInt32]] = []
        /// Entries to insert into `index.rare`, including tags that turn out to be shared.
        private var rare: [FingerprintTable.Entry] = []
        /// Set indices by the text of tags.
        private var numbers = SharedTagCache()

        /// A tag that has been read.
        enum ReadTag: Sendable {
            /// A tag with a set of its own, by index.
            case shared(UInt32)
            case rare(TagFingerprint)
        }

        package init() { self.init(AudienceIndex()) }

        init(_ index: AudienceIndex) { self.index = index }

        /// Adds a registration. Each id may occur once; ascending ids are fastest.
        package mutating func insert(_ id: UInt32, tags: [Tag]) { insert(id, tags.map { found(index.key.fingerprint(of: $0)) }) }

        /// - Parameter tags: tags read since the last insertion.
        mutating func insert(_ id: UInt32, _ tags: [ReadTag]) {
            ids.append(id)
            if ids.count == Self.batch { Self.flush(&ids, to: &index.live) }
            for tag in tags {
                switch tag {
                case .shared(let number): insert(id, at: Int(number))
                case .rare(let fingerprint): rare.append(FingerprintTable.Entry(fingerprint, id))
                }
            }
            // Merge when half as many are buffered as stored, so that each entry is merged only a few times.
            if rare.count >= max(Self.batch, min(Self.longest, index.rare.count / 2)) { flushRare() }
        }

        /// The tags starting with `$` that a registration of an installation may have. The hub assigns them; older versions accepted others
        /// from clients.
        struct Addresses {
            /// Nil for an installation without the tag `$InstallationId:{…}`.
            let installation: String?
            /// Fingerprint of `$UserId:{…}`; nil for an installation without a user.
            let user: TagFingerprint?
        }

        func fingerprint(of tag: Tag) -> TagFingerprint { index.key.fingerprint(of: tag) }

        /// Whether the hub assigns this tag to the installation's registrations.
        func isAddress(_ tag: Tag, _ addresses: Addresses) -> Bool {
            fingerprint(of: tag) == addresses.user || addresses.installation.map { tag.isAddress(of: $0) } == true
        }

        /// Reads the tags of a row. Skips reserved tags (those starting with `$`) that the hub did not assign.
        ///
        /// - Parameters:
        ///   - text: comma-separated tags. Throws `tag.invalid`.
        ///   - tags: receives the tags; earlier contents are removed.
        ///   - addresses: nil for a standalone registration, which has no reserved tags.
        /// - Returns: whether a tag was skipped.
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

        /// Nil for a tag that the hub did not assign to the installation.
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

        /// The position of the next comma, or the end. Examines eight bytes at a time.
        private static func comma(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
            let (ones, commas): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x2C2C_2C2C_2C2C_2C2C)
            var offset = start
            while offset + 8 <= text.count {
                let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ commas
                // Sets the highest bit of each zero byte; the lowest such bit is exact.
                let zeros = (word &- ones) & ~word & (ones << 7)
                if zeros != 0 { return offset + zeros.trailingZeroBitCount / 8 }
                offset += 8
            }
            while offset < text.count, text[offset] != UInt8(ascii: ",") { offset += 1 }
            return offset
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

        /// Returns the index of all registrations added, compacted.
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
            for fingerprint in index.rare.insert(contentsOf: rare, limit: index.rareLimit) { index.share(fingerprint) }
            rare.removeAll(keepingCapacity: true)
        }

        private static func flush(_ rows: inout [UInt32], to set: inout RowSet) {
            set.insert(contentsOf: rows)
            rows.removeAll(keepingCapacity: true)
        }
    }
}
