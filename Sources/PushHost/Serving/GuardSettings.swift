import PushCore

/// How many devices a send may reach without somebody else's leave.
struct GuardSettings: Sendable, Equatable {
    /// Nil for any number.
    var ceiling: Int?
    /// How long a send waits for leave.
    var expires: Duration = .seconds(86_400)

    var limits: SendGuard.Limits { SendGuard.Limits(ceiling: ceiling, lifetime: expires) }
}

extension ServerSettings {
    static let guardSettings: [Setting] = [
        Setting(
            "guard.ceiling", .count,
            "Most devices that one send may reach without somebody else's leave (`pushhost approvals`); any number by default.",
            isLive: true
        ) { $0.sendGuard.ceiling = $1.count },
        Setting("guard.expires", .duration, "How long a send waits for somebody's leave.", default: "1d", isLive: true) {
            $0.sendGuard.expires = $1.duration
        },
    ]
}
