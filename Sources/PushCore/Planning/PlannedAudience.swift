/// The registrations of a plan: who they are, where they stood when it was made, and what each would get.
///
/// It is compared by the ids, exactly. Places only make that quick: a registration keeps its place as long as it lives, and whoever comes
/// to the place of one that has left has another id.
package struct PlannedAudience: Sendable, Equatable {
    /// What several of them would get.
    package struct Kind: Sendable, Hashable {
        package var platform: Platform
        /// Nil for a native registration, and for a template without a name.
        package var templateName: String?
        package var isTemplate: Bool
        /// Of the rendered body; nil where the plan has no content.
        package var bytes: Int?
        /// The same for the same bytes on the wire.
        var mark: UInt64
        /// They would get nothing: it is too large, or the hub has no credentials.
        package var isRefused: Bool
    }

    struct Member: Sendable, Equatable {
        var first: UInt64
        var second: UInt64
        var place: UInt32
        /// The number of its kind, and in the highest bit whether another registration with its handle stands for it.
        fileprivate var bits: UInt32
        /// 15 for an id that is not packed.
        var shard: UInt8

        init(_ id: PackedRegistrationID?, at place: UInt32, kind: Int, isDuplicate: Bool) {
            (first, second, shard) = id.map { ($0.first, $0.second, $0.shard) } ?? (0, 0, RegistrationTraits.unusualShard)
            self.place = place
            bits = UInt32(kind) | (isDuplicate ? Self.duplicate : 0)
        }

        var kind: Int { Int(bits & ~Self.duplicate) }
        var isDuplicate: Bool { bits & Self.duplicate != 0 }
        var packed: PackedRegistrationID { PackedRegistrationID(first: first, second: second, shard: shard) }

        /// The same among kinds that stand behind so many others.
        func shifted(by kinds: Int) -> Member {
            var member = self
            member.bits += UInt32(kinds)
            return member
        }

        private static let duplicate: UInt32 = 1 << 31
    }

    var kinds: [Kind]
    /// In the order of their places.
    var members: [Member]
    /// Ids that are not packed, by place.
    var unusual: [UInt32: RegistrationID]

    init(kinds: [Kind] = [], members: [Member] = [], unusual: [UInt32: RegistrationID] = [:]) {
        self.kinds = kinds
        self.members = members
        self.unusual = unusual
    }

    package var count: Int { members.count }

    func id(of member: Member) -> RegistrationID {
        member.shard == RegistrationTraits.unusualShard ? unusual[member.place] ?? member.packed.id : member.packed.id
    }

    /// Those of some registrations that belong to it.
    func common(with ids: Set<RegistrationID>) -> Set<RegistrationID> {
        let wanted = Dictionary(ids.compactMap { id in PackedRegistrationID(id).map { ($0, id) } }, uniquingKeysWith: { first, _ in first })
        var found = ids.intersection(unusual.values)
        for member in members where member.shard != RegistrationTraits.unusualShard {
            if let id = wanted[member.packed] { found.insert(id) }
        }
        return found
    }
}

// MARK: - Comparing

extension PlannedAudience {
    /// How one audience differs from another: numbers of their members.
    struct Difference: Sendable, Equatable {
        /// Of the later one.
        var joined: [Int] = []
        /// Of the earlier one.
        var left: [Int] = []
        /// Of the later one: those that were there and would get other bytes now.
        var changed: [Int] = []

        var count: Int { joined.count + left.count + changed.count }
    }

    private struct Identity: Hashable {
        var packed: PackedRegistrationID
        var unusual: RegistrationID?
    }

    private func identity(_ member: Member) -> Identity {
        Identity(packed: member.packed, unusual: member.shard == RegistrationTraits.unusualShard ? unusual[member.place] : nil)
    }

    /// How this one has become the other one.
    func difference(to later: PlannedAudience) -> Difference {
        let kindNumbers = Dictionary(later.kinds.enumerated().map { ($1.essence, $0) }, uniquingKeysWith: { first, _ in first })
        let laterKinds = later.kinds.map { kindNumbers[$0.essence] }
        // Kinds of the later one by those of this one; nil for what nobody gets any more.
        let known = kinds.map { kindNumbers[$0.essence] }
        var difference = Difference()
        func compare(_ old: Member, _ number: Int) {
            let now = laterKinds[later.members[number].kind]
            if known[old.kind] == nil || known[old.kind] != now { difference.changed.append(number) }
        }
        var (left, joined): ([Int], [Int]) = ([], [])
        var (old, new) = (0, 0)
        while old < members.count || new < later.members.count {
            let oldPlace = old < members.count ? Int64(members[old].place) : .max
            let newPlace = new < later.members.count ? Int64(later.members[new].place) : .max
            if oldPlace == newPlace {
                if identity(members[old]) == later.identity(later.members[new]) {
                    compare(members[old], new)
                } else {
                    left.append(old)
                    joined.append(new)
                }
                (old, new) = (old + 1, new + 1)
            } else if oldPlace < newPlace {
                left.append(old)
                old += 1
            } else {
                joined.append(new)
                new += 1
            }
        }
        // A registration that left and was brought back may stand elsewhere.
        if !left.isEmpty, !joined.isEmpty {
            var moved = Dictionary(left.map { (identity(members[$0]), $0) }, uniquingKeysWith: { first, _ in first })
            joined.removeAll { number in
                guard let old = moved.removeValue(forKey: later.identity(later.members[number])) else { return false }
                compare(members[old], number)
                return true
            }
            let gone = Set(moved.values)
            left.removeAll { !gone.contains($0) }
            difference.changed.sort()
        }
        (difference.left, difference.joined) = (left, joined)
        return difference
    }
}

extension PlannedAudience.Kind {
    fileprivate struct Essence: Hashable {
        var platform: Platform
        var isTemplate: Bool
        var mark: UInt64
    }

    /// What is the same where the same bytes go to the same platform, whatever the template is called.
    fileprivate var essence: Essence { Essence(platform: platform, isTemplate: isTemplate, mark: mark) }
}

// MARK: - Kept

extension PlannedAudience {
    /// Most members of a part.
    package static let partSize = 1 << 16

    /// How many parts there are of so many members.
    static func partCount(of members: Int) -> Int { (members + partSize - 1) / partSize }

    /// As bytes, in parts that are read by themselves: in each the kinds that occur there, then of each member how far its place is behind
    /// the one before, its kind, and its id. 19 bytes or so for each.
    var parts: [[UInt8]] {
        stride(from: 0, to: members.count, by: Self.partSize).map { part(members[$0..<min($0 + Self.partSize, members.count)]) }
    }

    private func part(_ members: ArraySlice<Member>) -> [UInt8] {
        var numbers: [Int: UInt64] = [:]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(members.count * 20 + 256)
        var used: [Int] = []
        for member in members where numbers[member.kind] == nil {
            numbers[member.kind] = UInt64(used.count)
            used.append(member.kind)
        }
        bytes.append(number: UInt64(used.count))
        for number in used { kinds[number].append(to: &bytes) }
        bytes.append(number: UInt64(members.count))
        var last: UInt32 = 0
        var (kind, number) = (-1, UInt64(0))
        for member in members {
            if member.kind != kind { (kind, number) = (member.kind, numbers[member.kind] ?? 0) }
            bytes.append(number: UInt64(member.place - last))
            bytes.append(number: number << 1 | (member.isDuplicate ? 1 : 0))
            bytes.append(member.shard)
            if member.shard == RegistrationTraits.unusualShard {
                bytes.append(text: id(of: member).text)
            } else {
                bytes.append(word: member.first)
                bytes.append(word: member.second)
            }
            last = member.place
        }
        return bytes
    }

    /// Adds a part that was kept. False for bytes that are none.
    package mutating func append(part bytes: [UInt8]) -> Bool {
        let isWhole = bytes.withUnsafeBytes { buffer in
            var cursor = ByteCursor(buffer)
            var numbers: [Int] = []
            for _ in 0..<cursor.count() {
                guard let kind = Kind(&cursor) else { return false }
                numbers.append(number(of: kind))
            }
            let count = cursor.count()
            members.reserveCapacity(members.count + count)
            var place: UInt64 = 0
            for _ in 0..<count {
                place += cursor.number() & 0xffff_ffff
                let code = cursor.number()
                let shard = cursor.byte()
                guard let at = UInt32(exactly: place), code >> 1 < UInt64(numbers.count), !cursor.isBeyond else { return false }
                var packed: PackedRegistrationID?
                if shard == RegistrationTraits.unusualShard {
                    guard let id = RegistrationID(cursor.text()) else { return false }
                    unusual[at] = id
                } else {
                    packed = PackedRegistrationID(first: cursor.word(), second: cursor.word(), shard: shard)
                }
                members.append(Member(packed, at: at, kind: numbers[Int(code >> 1)], isDuplicate: code & 1 == 1))
            }
            return cursor.isAtEnd && !cursor.isBeyond
        }
        return isWhole
    }

    /// Of a kind that is there already, or is from now on.
    private mutating func number(of kind: Kind) -> Int {
        // Of most plans there are few kinds; those of a part were different ones already.
        if let known = kinds.count <= 32 ? kinds.firstIndex(of: kind) : nil { return known }
        kinds.append(kind)
        return kinds.count - 1
    }
}

extension PlannedAudience.Kind {
    fileprivate func append(to bytes: inout [UInt8]) {
        bytes.append(text: platform.rawValue)
        bytes.append((isTemplate ? 1 : 0) | (isRefused ? 2 : 0) | (templateName == nil ? 0 : 4) | (self.bytes == nil ? 0 : 8))
        if let templateName { bytes.append(text: templateName) }
        if let size = self.bytes { bytes.append(number: UInt64(size)) }
        bytes.append(word: mark)
    }

    fileprivate init?(_ cursor: inout ByteCursor) {
        guard let platform = Platform(rawValue: cursor.text()) else { return nil }
        let flags = cursor.byte()
        let name = flags & 4 == 0 ? nil : cursor.text()
        let size = flags & 8 == 0 ? nil : Int(cursor.number() & 0xffff_ffff)
        self.init(
            platform: platform, templateName: name, isTemplate: flags & 1 != 0, bytes: size, mark: cursor.word(),
            isRefused: flags & 2 != 0)
        if cursor.isBeyond { return nil }
    }
}
