import PushHub
import PushModel

/// Settings for sends that need approval.
struct GuardSettings: Sendable, Equatable {
    /// Maximum number of devices per send without approval; nil for no limit.
    var ceiling: Int?
    /// How long an approval request stays pending.
    var expires: Duration = .seconds(86_400)

    var limits: SendGuard.Limits { SendGuard.Limits(ceiling: ceiling, lifetime: expires) }
}

extension ServerSettings {
    static let guardSettings: [Setting] = [
        Setting(
            "guard.ceiling", .count,
            "Maximum number of devices per send without approval (`pushhost approvals`); no limit by default.",
            isReloadable: true
        ) { $0.sendGuard.ceiling = $1.count },
        Setting("guard.expires", .duration, "How long an approval request stays pending.", default: "1d", isReloadable: true) {
            $0.sendGuard.expires = $1.duration
        },
    ]
}
