package import PushModel

/// The registrations of a plan with their rows and payloads.
///
/// Audiences are compared by registration id. Row numbers only speed this up: a registration keeps its row, and a row that is reused
/// holds another id.
package struct PlannedAudience: Sendable, Equatable {
    /// A platform, template and rendered payload that several members share.
    package struct Kind: Sendable, Hashable {
        package var platform: Platform
        /// Nil for a native registration, and for an unnamed template.
        package var templateName: String?
        package var isTemplate: Bool
        /// Size of the rendered body; nil if the plan has no content.
        package var bytes: Int?
        /// Hash of the bytes on the wire.
        var mark: UInt64
        /// Whether the push would be rejected: too large, or the hub has no credentials.
        package var isRefused: Bool
    }

    struct Member: Sendable, Equatable {
        var first: UInt64
        var second: UInt64
        var row: UInt32
        /// Index into `kinds`; the highest bit is set if another registration with the same handle is sent to instead.
        fileprivate var bits: UInt32
        /// `RegistrationTraits.unusualShard` (15) if the id does not fit the packed form.
        var shard: UInt8

        init(_ id: PackedRegistrationID?, at row: UInt32, kind: Int, isDuplicate: Bool) {
            (first, second, shard) = id.map { ($0.first, $0.second, $0.shard) } ?? (0, 0, RegistrationTraits.unusualShard)
            self.row = row
            bits = UInt32(kind) | (isDuplicate ? Self.duplicate : 0)
        }

        var kind: Int { Int(bits & ~Self.duplicate) }
        var isDuplicate: Bool { bits & Self.duplicate != 0 }
        var packed: PackedRegistrationID { PackedRegistrationID(first: first, second: second, shard: shard) }

        /// The member for an audience that has `kinds` other kinds before its own.
        func shifted(by kinds: Int) -> Member {
            var member = self
            member.bits += UInt32(kinds)
            return member
        }

        private static let duplicate: UInt32 = 1 << 31
    }

    var kinds: [Kind]
    /// Members by ascending row.
    var members: [Member]
    /// Ids that do not fit the packed form, by row.
    var unusual: [UInt32: RegistrationID]

    init(kinds: [Kind] = [], members: [Member] = [], unusual: [UInt32: RegistrationID] = [:]) {
        self.kinds = kinds
        self.members = members
        self.unusual = unusual
    }

    package var count: Int { members.count }

    func id(of member: Member) -> RegistrationID {
        member.shard == RegistrationTraits.unusualShard ? unusual[member.row] ?? member.packed.id : member.packed.id
    }

    /// The subset of `ids` that belongs to the audience.
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
    /// Changes between two audiences, as indices into their members.
    struct Difference: Sendable, Equatable {
        /// Indices into the later audience.
        var joined: [Int] = []
        /// Indices into the earlier audience.
        var left: [Int] = []
        /// Indices into the later audience, of members of both that would now receive different bytes.
        var changed: [Int] = []

        var count: Int { joined.count + left.count + changed.count }
    }

    private struct Identity: Hashable {
        var packed: PackedRegistrationID
        var unusual: RegistrationID?
    }

    private func identity(_ member: Member) -> Identity {
        Identity(packed: member.packed, unusual: member.shard == RegistrationTraits.unusualShard ? unusual[member.row] : nil)
    }

    /// The changes from this audience to a later one.
    func difference(to later: PlannedAudience) -> Difference {
        let kindNumbers = Dictionary(later.kinds.enumerated().map { ($1.payloadKind, $0) }, uniquingKeysWith: { first, _ in first })
        let laterKinds = later.kinds.map { kindNumbers[$0.payloadKind] }
        // The later audience's kind for each of this audience's kinds; nil if there is none with the same bytes.
        let known = kinds.map { kindNumbers[$0.payloadKind] }
        var difference = Difference()
        func compare(_ old: Member, _ number: Int) {
            let now = laterKinds[later.members[number].kind]
            if known[old.kind] == nil || known[old.kind] != now { difference.changed.append(number) }
        }
        var (left, joined): ([Int], [Int]) = ([], [])
        var (old, new) = (0, 0)
        while old < members.count || new < later.members.count {
            let oldRow = old < members.count ? Int64(members[old].row) : .max
            let newRow = new < later.members.count ? Int64(later.members[new].row) : .max
            if oldRow == newRow {
                if identity(members[old]) == later.identity(later.members[new]) {
                    compare(members[old], new)
                } else {
                    left.append(old)
                    joined.append(new)
                }
                (old, new) = (old + 1, new + 1)
            } else if oldRow < newRow {
                left.append(old)
                old += 1
            } else {
                joined.append(new)
                new += 1
            }
        }
        // A registration that was deleted and created again may have another row.
        if !left.isEmpty, !joined.isEmpty {
            var moved = Dictionary(left.map { (identity(members[$0]), $0) }, uniquingKeysWith: { first, _ in first })
            joined.removeAll { number in
                guard let old = moved.removeValue(forKey: later.identity(later.members[number])) else { return false }
                compare(members[old], number)
                return true
            }
            let unmatched = Set(moved.values)
            left.removeAll { !unmatched.contains($0) }
            difference.changed.sort()
        }
        (difference.left, difference.joined) = (left, joined)
        return difference
    }
}

extension PlannedAudience.Kind {
    fileprivate struct PayloadKind: Hashable {
        var platform: Platform
        var isTemplate: Bool
        var mark: UInt64
    }

    /// Equal for kinds that send the same bytes to the same platform, whatever the template is called.
    fileprivate var payloadKind: PayloadKind { PayloadKind(platform: platform, isTemplate: isTemplate, mark: mark) }
}

// MARK: - Storage

extension PlannedAudience {
    /// Maximum number of members per part.
    package static let partSize = 1 << 16

    /// Number of parts that this many members are stored in.
    static func partCount(of members: Int) -> Int { (members + partSize - 1) / partSize }

    /// The encoded audience, in parts that can be decoded independently. A part contains the kinds that occur in it, then for each member
    /// the difference to the previous row, the kind and the id. About 19 bytes per member.
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
            bytes.append(number: UInt64(member.row - last))
            bytes.append(number: number << 1 | (member.isDuplicate ? 1 : 0))
            bytes.append(member.shard)
            if member.shard == RegistrationTraits.unusualShard {
                bytes.append(text: id(of: member).text)
            } else {
                bytes.append(word: member.first)
                bytes.append(word: member.second)
            }
            last = member.row
        }
        return bytes
    }

    /// Appends a stored part. Returns false if the bytes are invalid.
    package mutating func append(part bytes: [UInt8]) -> Bool {
        let isComplete = bytes.withUnsafeBytes { buffer in
            var cursor = ByteCursor(buffer)
            var numbers: [Int] = []
            for _ in 0..<cursor.count() {
                guard let kind = Kind(&cursor) else { return false }
                numbers.append(number(of: kind))
            }
            let count = cursor.count()
            members.reserveCapacity(members.count + count)
            var row: UInt64 = 0
            for _ in 0..<count {
                row += cursor.number() & 0xffff_ffff
                let code = cursor.number()
                let shard = cursor.byte()
                guard let at = UInt32(exactly: row), code >> 1 < UInt64(numbers.count), !cursor.isBeyond else { return false }
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
        return isComplete
    }

    /// The index of a kind, which is added if it is new.
    private mutating func number(of kind: Kind) -> Int {
        // Search only short lists: most plans have few kinds, and those within one part are distinct.
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
