/// A device token of 32 bytes.
struct CountedPhoneToken: Hashable, Sendable {
    var words: (UInt64, UInt64, UInt64, UInt64)

    /// Returns `nil` unless the text is 64 lower-case hexadecimal digits.
    init?(_ text: String) {
        var (words, count): ([UInt64], Int) = ([0, 0, 0, 0], 0)
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            guard count < 64 else { return nil }
            words[count / 16] = words[count / 16] << 4 | UInt64(value)
            count += 1
        }
        guard count == 64 else { return nil }
        self.words = (words[0], words[1], words[2], words[3])
    }

    static func == (left: CountedPhoneToken, right: CountedPhoneToken) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) { hasher.combine(mixed) }

    /// A hash that also spreads consecutive numbers, which tests use as tokens.
    var mixed: UInt64 {
        var sum = words.0 &* 0x9e37_79b9_7f4a_7c15 ^ words.1
        sum = (sum ^ sum >> 29) &* 0xbf58_476d_1ce4_e5b9 ^ words.2
        sum = (sum ^ sum >> 32) &* 0x94d0_49bb_1331_11eb ^ words.3
        sum = (sum ^ sum >> 29) &* 0xbf58_476d_1ce4_e5b9
        return sum ^ sum >> 32
    }
}

/// iPhones for load tests, of which only the number of pushes is stored: 48 bytes for each and an entry in a hash table.
struct CountedPhones: Sendable {
    private struct Member: Sendable {
        var token: CountedPhoneToken
        var pushes: UInt32 = 0
        /// The current minute since 1970, for the rate limit; the number of its pushes follows.
        var minute: UInt32 = 0
        var pushesOfMinute: UInt16 = 0
        /// Index into `kinds`; `noKind` if it has become a full phone.
        var kind: UInt16
    }

    /// Properties shared by many members.
    struct Kind: Sendable, Equatable {
        var app: String
        var environment: APNsEnvironment
    }

    /// Fixed-size blocks, so that members are never moved.
    private var blocks: [[Member]] = []
    /// Hash table of indexes plus one; 0 marks a free slot.
    private var slots = [UInt32](repeating: 0, count: 1024)
    private var kinds: [Kind] = []
    private var members = 0
    private(set) var count = 0

    private static let blockSize = 65_536
    private static let noKind = UInt16.max
    /// The maximum number of members, chosen to fit into the memory of a test machine.
    static let capacity = 20_000_000

    /// The index of a token; `nil` if it is not a member.
    func memberIndex(of token: CountedPhoneToken) -> Int? {
        var slot = Int(truncatingIfNeeded: token.mixed) & (slots.count - 1)
        while slots[slot] != 0 {
            let memberIndex = Int(slots[slot]) - 1
            let member = blocks[memberIndex / Self.blockSize][memberIndex % Self.blockSize]
            if member.token == token { return member.kind == Self.noKind ? nil : memberIndex }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    func kind(at memberIndex: Int) -> Kind { kinds[Int(blocks[memberIndex / Self.blockSize][memberIndex % Self.blockSize].kind)] }

    func pushes(at memberIndex: Int) -> Int { Int(blocks[memberIndex / Self.blockSize][memberIndex % Self.blockSize].pushes) }

    /// Adds a new token and returns its index; `nil` if there are too many tokens or apps.
    mutating func join(_ token: CountedPhoneToken, _ kind: Kind) -> Int? {
        guard members < Self.capacity, let kind = number(of: kind) else { return nil }
        if members * 4 >= slots.count * 3 { grow() }
        if members % Self.blockSize == 0 {
            blocks.append([])
            blocks[blocks.count - 1].reserveCapacity(Self.blockSize)
        }
        blocks[blocks.count - 1].append(Member(token: token, kind: kind))
        enter(token, members)
        members += 1
        count += 1
        return members - 1
    }

    private mutating func number(of kind: Kind) -> UInt16? {
        if let known = kinds.firstIndex(of: kind) { return UInt16(known) }
        guard kinds.count < Int(Self.noKind) else { return nil }
        kinds.append(kind)
        return UInt16(kinds.count - 1)
    }

    private mutating func enter(_ token: CountedPhoneToken, _ memberIndex: Int) {
        var slot = Int(truncatingIfNeeded: token.mixed) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(memberIndex + 1)
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        for memberIndex in 0..<members { enter(blocks[memberIndex / Self.blockSize][memberIndex % Self.blockSize].token, memberIndex) }
    }

    /// Counts a push in this minute; returns `false` if the limit is reached.
    mutating func admit(_ memberIndex: Int, minute: Int64, limit: Int) -> Bool {
        let (block, index) = (memberIndex / Self.blockSize, memberIndex % Self.blockSize)
        let minute = UInt32(truncatingIfNeeded: minute)
        if blocks[block][index].minute != minute {
            blocks[block][index].minute = minute
            blocks[block][index].pushesOfMinute = 0
        }
        guard Int(blocks[block][index].pushesOfMinute) < min(limit, Int(UInt16.max)) else { return false }
        blocks[block][index].pushesOfMinute += 1
        return true
    }

    mutating func addPush(_ memberIndex: Int) { blocks[memberIndex / Self.blockSize][memberIndex % Self.blockSize].pushes &+= 1 }

    /// Removes a member.
    mutating func remove(_ memberIndex: Int) {
        blocks[memberIndex / Self.blockSize][memberIndex % Self.blockSize].kind = Self.noKind
        count -= 1
    }

    /// Histogram of pushes per member: number of members with none, one, …; the last value counts all with `most` or more.
    func statistics(upTo most: Int) -> [Int] {
        var statistics = [Int](repeating: 0, count: most + 1)
        for block in blocks { for member in block where member.kind != Self.noKind { statistics[min(Int(member.pushes), most)] += 1 } }
        return statistics
    }

    /// Total pushes of all members, including removed ones.
    var pushes: Int { blocks.reduce(0) { $0 + $1.reduce(0) { $0 + Int($1.pushes) } } }
}
