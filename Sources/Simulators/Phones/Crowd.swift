/// A device token of 32 bytes.
struct CrowdToken: Hashable, Sendable {
    var words: (UInt64, UInt64, UInt64, UInt64)

    /// Nil unless the text is 64 lower-case hexadecimal digits.
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

    static func == (left: CrowdToken, right: CrowdToken) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) { hasher.combine(mixed) }

    /// Tokens of a test may be numbers that follow each other.
    var mixed: UInt64 {
        var sum = words.0 &* 0x9e37_79b9_7f4a_7c15 ^ words.1
        sum = (sum ^ sum >> 29) &* 0xbf58_476d_1ce4_e5b9 ^ words.2
        sum = (sum ^ sum >> 32) &* 0x94d0_49bb_1331_11eb ^ words.3
        sum = (sum ^ sum >> 29) &* 0xbf58_476d_1ce4_e5b9
        return sum ^ sum >> 32
    }
}

/// iPhones that nobody looks at: what they got is counted, 48 bytes and their place in a table for each.
struct Crowd: Sendable {
    private struct Member: Sendable {
        var token: CrowdToken
        var pushes: UInt32 = 0
        /// Minutes since 1970, and the pushes of this one.
        var minute: UInt32 = 0
        var pushesOfMinute: UInt16 = 0
        /// Into `kinds`; `gone` for one that has become a phone in full.
        var kind: UInt16
    }

    /// What many have in common.
    struct Kind: Sendable, Equatable {
        var app: String
        var environment: APNsEnvironment
    }

    /// Blocks, so that nothing is ever moved.
    private var blocks: [[Member]] = []
    /// Places plus one, by hash; 0 is free.
    private var slots = [UInt32](repeating: 0, count: 1024)
    private var kinds: [Kind] = []
    private var members = 0
    private(set) var count = 0

    private static let blockSize = 65_536
    private static let gone = UInt16.max
    /// More would not fit into what a machine for tests has.
    static let capacity = 20_000_000

    /// Where a token is; nil when it is not here.
    func place(of token: CrowdToken) -> Int? {
        var slot = Int(truncatingIfNeeded: token.mixed) & (slots.count - 1)
        while slots[slot] != 0 {
            let place = Int(slots[slot]) - 1
            let member = blocks[place / Self.blockSize][place % Self.blockSize]
            if member.token == token { return member.kind == Self.gone ? nil : place }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    func kind(at place: Int) -> Kind { kinds[Int(blocks[place / Self.blockSize][place % Self.blockSize].kind)] }

    func pushes(at place: Int) -> Int { Int(blocks[place / Self.blockSize][place % Self.blockSize].pushes) }

    /// Adds a token that is not here; nil when there are too many, of tokens or of apps.
    mutating func join(_ token: CrowdToken, _ kind: Kind) -> Int? {
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
        guard kinds.count < Int(Self.gone) else { return nil }
        kinds.append(kind)
        return UInt16(kinds.count - 1)
    }

    private mutating func enter(_ token: CrowdToken, _ place: Int) {
        var slot = Int(truncatingIfNeeded: token.mixed) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(place + 1)
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        for place in 0..<members { enter(blocks[place / Self.blockSize][place % Self.blockSize].token, place) }
    }

    /// One more in this minute; false when that is more than `limit`.
    mutating func admit(_ place: Int, minute: Int64, limit: Int) -> Bool {
        let (block, index) = (place / Self.blockSize, place % Self.blockSize)
        let minute = UInt32(truncatingIfNeeded: minute)
        if blocks[block][index].minute != minute {
            blocks[block][index].minute = minute
            blocks[block][index].pushesOfMinute = 0
        }
        guard Int(blocks[block][index].pushesOfMinute) < min(limit, Int(UInt16.max)) else { return false }
        blocks[block][index].pushesOfMinute += 1
        return true
    }

    mutating func addPush(_ place: Int) { blocks[place / Self.blockSize][place % Self.blockSize].pushes &+= 1 }

    /// Takes a member out.
    mutating func remove(_ place: Int) {
        blocks[place / Self.blockSize][place % Self.blockSize].kind = Self.gone
        count -= 1
    }

    /// How many members got how many pushes: none, one, …; the last number counts all that got as many or more.
    func census(upTo most: Int) -> [Int] {
        var census = [Int](repeating: 0, count: most + 1)
        for block in blocks { for member in block where member.kind != Self.gone { census[min(Int(member.pushes), most)] += 1 } }
        return census
    }

    /// Of all members, those that have left included.
    var pushes: Int { blocks.reduce(0) { $0 + $1.reduce(0) { $0 + Int($1.pushes) } } }
}
