import PushModel

/// Registrations generated from a seed, the same in every run and for every engine.
struct Population {
    /// A tag and the share of registrations that have it.
    struct Share {
        let tag: Tag
        let threshold: UInt64

        init(_ name: String, percent: Double) throws {
            tag = try Tag(name)
            threshold = UInt64(percent / 100 * 0x1p64)
        }
    }

    let count: UInt32
    /// Tags that a registration has independently of each other.
    private let shares: [Share]
    /// Lists of which a registration has one tag each.
    private let choices: [[Share]]
    private let hasUsers: Bool

    /// 5.3 tags per registration: six categories of 5 to 50 %, one of 50 cities, one of eight versions, and a unique user.
    static func typical(_ count: UInt32) throws -> Population {
        let categories = [
            ("follows_RedSox", 5.0), ("follows_Cardinals", 10), ("follows_Beatles", 20), ("news", 30), ("muted", 15), ("promo", 50),
        ]
        let cities = (0..<50).map { ($0 == 0 ? "location_Boston" : "location_City\($0)", 2.0) }
        let versions = zip(0..., [45, 25, 12, 8, 5, 3, 1.5, 0.5]).map { ("version_5.\(7 - $0)", $1) }
        return Population(
            count: count, shares: try categories.map(Share.init), choices: try [cities, versions].map { try $0.map(Share.init) },
            hasUsers: true)
    }

    /// One city of 20,000 registrations, whatever the count, and filter tags of every density.
    static func graded(_ count: UInt32) throws -> Population {
        let tags = [("follows_Cardinals", 10.0), ("muted", 15), ("promo", 50), ("location_Boston", 2_000_000 / Double(count))]
        let filters = densities.map { (filter($0), $0) }
        return Population(count: count, shares: try (tags + filters).map(Share.init), choices: [], hasUsers: false)
    }

    /// The densities in percent.
    static let densities = [0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 20, 50]

    static func filter(_ density: Double) -> String { "filter_\(density)" }

    /// Calls the body for each registration; the user's tag is unique, the other tags are shared.
    func forEach(_ body: (UInt32, [Tag]) throws -> Void) throws {
        var random = Numbers(seed: 12345)
        var tags: [Tag] = []
        for id in 0..<count {
            tags.removeAll(keepingCapacity: true)
            for share in shares where random.next() < share.threshold { tags.append(share.tag) }
            for choice in choices { tags.append(Self.one(of: choice, random.next())) }
            if hasUsers { tags.append(try Self.user(id)) }
            try body(id, tags)
        }
    }

    static func user(_ id: UInt32) throws -> Tag { try Tag("username:u\(id)") }

    private static func one(of choice: [Share], _ number: UInt64) -> Tag {
        var rest = number
        for share in choice.dropLast() {
            if rest < share.threshold { return share.tag }
            rest -= share.threshold
        }
        return choice[choice.count - 1].tag
    }
}

/// SplitMix64 (Steele, Lea and Flood).
struct Numbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
