/// Devices of a notification that hooks hold: they have no verdict, and their turn comes later.
struct Holds: Sendable {
    private struct Wait: Hashable {
        var moment: Timestamp
        var reason: String
    }

    private var waits: [Wait: Int] = [:]
    /// As they are abandoned where the notification ends before.
    private(set) var groups: [(group: RecipientGroup, members: [UInt32])] = []
    /// Those that wait with them.
    var duplicates: [UInt32] = []

    /// Most that a hook may hold something ahead.
    static let longest: Duration = .seconds(7 * 86_400)
    /// A hook that asked for less again and again would keep the hub busy with nothing else.
    static let shortest: Duration = .seconds(1)

    var isEmpty: Bool { groups.isEmpty }

    /// When the first of them may go on.
    var moment: Timestamp? { waits.keys.map(\.moment).min() }

    mutating func add(_ members: [UInt32], on platform: Platform, until moment: Timestamp, _ reason: String) {
        waits[Wait(moment: moment, reason: reason), default: 0] += members.count
        if let place = groups.firstIndex(where: { $0.group.platform == platform }) {
            groups[place].members += members
        } else {
            groups.append((RecipientGroup(platform: platform), members))
        }
    }

    // MARK: - Notices

    /// Most moments and reasons that are told one by one.
    private static let mostNotices = 10

    /// For people, the first moment first.
    var notices: [String] {
        let sorted = waits.sorted { ($0.key.moment, $0.key.reason) < ($1.key.moment, $1.key.reason) }
        let told = sorted.prefix(Self.mostNotices).map { Self.notice($0.value, "\($0.key.moment): \($0.key.reason)") }
        let others = sorted.dropFirst(Self.mostNotices).reduce(0) { $0 + $1.value }
        return others == 0 ? told : told + [Self.notice(others, "later moments")]
    }

    private static func notice(_ count: Int, _ moment: String) -> String {
        "\(count) device\(count == 1 ? " waits" : "s wait") until \(moment)"
    }

    /// Whether a notice tells of devices that were held: when their turn has come it is true no longer.
    static func isNotice(_ text: String) -> Bool {
        let rest = text.drop { $0.isWholeNumber }
        return rest.count < text.count && (rest.hasPrefix(" device waits until ") || rest.hasPrefix(" devices wait until "))
    }
}

extension NotificationOutcome {
    /// Whether a notice says that devices wait for a moment that a hook has chosen.
    package static func tellsOfHold(_ notice: String) -> Bool { Holds.isNotice(notice) }
}
