/// The misbehaviour of a peer and of the network. Numbers mean "every nth"; 0 means never.
struct TortureBehaviour {
    var streams: UInt32 = 100
    /// Streams before the first answer; 0 for `streams`.
    var firstStreams: UInt32 = 0
    var dropsOnReject = false
    var window: UInt32 = 65_535
    var refusal = 0
    var rejection = 0
    var reset = 0
    var silence = 0
    var early = 0
    var bigHeaders = 0
    var pings = 0
    /// The number of requests until GOAWAY, or until the connection is cut.
    var goodbye = 0
    var cut = 0
    var isGoodbyeTwice = false
    var isPadded = false
    var changesTable = false
    var changesWindow = false
    /// Bytes per body.
    var body = 210
    var firstStream: Int32 = 1
    var cancellation = 0
    /// Bytes of a header in every second batch.
    var bigRequestHeader = 0
    var stallsWriting = false
    var deafness = 0
    var pushes = 90
    /// Accepts requests with any content.
    var isLoose = false
    /// Deliberate faults, to test that the ledger finds them.
    var liesAboutRefusal = false
    var mixesIDs = false
    var forgets = false

    static let names = [
        "plain", "limit", "drop", "refusal", "rejection", "reset", "silence", "early", "big headers", "pings", "goodbye",
        "two goodbyes", "cut", "tiny window", "large bodies", "padding", "table", "exhaustion", "cancellation", "big requests",
        "stalled writing", "deaf", "all",
    ]

    init(_ name: String, _ dice: inout Dice) {
        switch name {
        case "limit": firstStreams = 1
        case "drop": (firstStreams, rejection, dropsOnReject) = (1, 5, true)
        case "refusal": refusal = 7
        case "rejection": rejection = 3
        case "reset": reset = 5
        case "silence": silence = 9
        case "early": (early, window, body) = (4, 100, 900)
        case "big headers": bigHeaders = 4
        case "pings": pings = 2
        case "goodbye": goodbye = 20
        case "two goodbyes": (goodbye, isGoodbyeTwice) = (17, true)
        case "cut": cut = 15
        case "tiny window": (window, changesWindow, pushes) = (50, true, 40)
        case "large bodies": (body, pushes) = (5_000, 40)
        case "padding": (isPadded, rejection) = (true, 3)
        case "table": (changesTable, rejection) = (true, 4)
        case "exhaustion": firstStream = .max - 40
        case "cancellation": (cancellation, streams) = (2, 7)
        case "big requests": bigRequestHeader = 20_000
        case "stalled writing": stallsWriting = true
        case "deaf": deafness = 12
        case "all": mixAll(&dice)
        default: break
        }
    }

    private mutating func mixAll(_ dice: inout Dice) {
        streams = UInt32(dice.roll(1...60))
        if dice.chance(2) { firstStreams = 1 }
        dropsOnReject = dice.chance(2)
        window = [65_535, 300, 3_000][dice.roll(0...2)]
        let faults: [WritableKeyPath<TortureBehaviour, Int>] = [
            \.refusal, \.rejection, \.reset, \.silence, \.early, \.bigHeaders, \.pings, \.goodbye, \.cut, \.cancellation, \.deafness,
        ]
        for fault in faults where dice.chance(2) { self[keyPath: fault] = dice.roll(4...40) }
        isGoodbyeTwice = dice.chance(2)
        isPadded = dice.chance(2)
        changesTable = dice.chance(2)
        changesWindow = dice.chance(3)
        stallsWriting = dice.chance(3)
        body = [1, 210, 1_500][dice.roll(0...2)]
        if dice.chance(3) { firstStream = .max - Int32(dice.roll(2...60)) | 1 }
        if dice.chance(3) { bigRequestHeader = 18_000 }
    }
}

/// A seeded random number generator: SplitMix64.
struct Dice {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }

    mutating func roll(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(next() % UInt64(range.count)) }

    /// Returns `true` once in `sides` calls on average.
    mutating func chance(_ sides: Int) -> Bool { next() % UInt64(sides) == 0 }
}
