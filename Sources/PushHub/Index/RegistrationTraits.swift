import PushModel

/// Properties of a registration, packed into two bytes.
struct RegistrationTraits: Sendable, Hashable {
    private var bits: UInt16

    /// The value of an unused row.
    static let vacant = RegistrationTraits(bits: .max)
    /// Marks an id that does not fit the packed form.
    static let unusualShard: UInt8 = 15
    /// The outcome code of a removed registration.
    private static let left: UInt16 = 31

    private init(bits: UInt16) { self.bits = bits }

    init(platform: Platform, shard: UInt8, outcome: OutcomeName? = nil) {
        bits = UInt16(platform.code) | UInt16(shard) << 9
        self.outcome = outcome
    }

    var platform: Platform { Platform(code: UInt8(bits & 15)) }

    var shard: UInt8 { UInt8(bits >> 9 & 15) }

    var isLive: Bool { bits >> 4 & 31 != Self.left }

    mutating func leave() { bits |= Self.left << 4 }

    /// Outcome of the last push; nil before the first one.
    var outcome: OutcomeName? {
        get {
            let code = Int(bits >> 4 & 31)
            return (1...OutcomeName.allCases.count).contains(code) ? OutcomeName.allCases[code - 1] : nil
        }
        set { bits = bits & ~(31 << 4) | UInt16(newValue.flatMap { OutcomeName.codes[$0] } ?? 0) << 4 }
    }

    /// Whether the registration has push variables.
    var hasVariables: Bool {
        get { bits >> 13 & 1 == 1 }
        set { bits = bits & ~(1 << 13) | (newValue ? 1 << 13 : 0) }
    }

    /// Whether the registration belongs to an installation.
    var isInstalled: Bool {
        get { bits >> 14 & 1 == 1 }
        set { bits = bits & ~(1 << 14) | (newValue ? 1 << 14 : 0) }
    }

    /// Whether other registrations have the same handle.
    var isLinked: Bool {
        get { bits >> 15 & 1 == 1 }
        set { bits = bits & ~(1 << 15) | (newValue ? 1 << 15 : 0) }
    }
}

extension Platform {
    /// Four-bit code. Used in memory only, never stored.
    var code: UInt8 {
        switch self {
        case .apns: 0
        case .fcmV1: 1
        case .gcm: 2
        case .wns: 3
        case .browser: 4
        case .mpns: 5
        case .adm: 6
        case .baidu: 7
        case .xiaomi: 8
        }
    }

    init(code: UInt8) {
        switch code {
        case 1: self = .fcmV1
        case 2: self = .gcm
        case 3: self = .wns
        case 4: self = .browser
        case 5: self = .mpns
        case 6: self = .adm
        case 7: self = .baidu
        case 8: self = .xiaomi
        default: self = .apns
        }
    }
}

extension OutcomeName {
    /// Codes from 1 on. Used in memory only, never stored.
    fileprivate static let codes = Dictionary(uniqueKeysWithValues: zip(allCases, 1...))
}
