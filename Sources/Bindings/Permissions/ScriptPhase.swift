package import PushModel

/// The current purpose of a script's run. It decides what the script may call.
package enum ScriptPhase: Sendable, Hashable, CaseIterable {
    /// A flow, a spec, or a line at a prompt.
    case flow
    /// Running a plugin's `init.lua`.
    case load
    case hook(HookPhase)
    /// Work that a plugin's `on_register` has deferred until the registration is stored.
    case onceKept
    case route
    case timer

    package static let allCases: [ScriptPhase] =
        [.flow, .load] + HookPhase.allCases.flatMap { $0 == .onRegister ? [.hook($0), .onceKept] : [.hook($0)] } + [.route, .timer]

    package var name: String {
        switch self {
        case .flow: "flow"
        case .load: "load"
        case .hook(let hook): hook.rawValue
        case .onceKept: "once_kept"
        case .route: "route"
        case .timer: "every"
        }
    }
}

extension Set<ScriptPhase> {
    package static let everywhere = Set(ScriptPhase.allCases)

    /// All phases but the loading of a plugin, which may only declare itself.
    package static let running = everywhere.subtracting([.load])

    /// Phases in which the hub does not wait for the script. A blocking hook that changed the hub could wait for itself.
    package static let acting = running.subtracting(HookPhase.allCases.filter(\.isDeciding).map { .hook($0) })

    /// The running phases of plugins.
    package static let pluginsRunning = running.subtracting([.flow])
}

extension HookPhase {
    /// Whether the hub waits for the hook's answer.
    package var isDeciding: Bool {
        switch self {
        case .beforeSend, .beforeDeliver, .onRegister, .onLogin, .onSecureFetch: true
        case .afterSend, .onOutcome: false
        }
    }

    /// One sentence for the table of phases.
    package var summary: String {
        switch self {
        case .beforeSend: "Before a notification is accepted. The hook may change, defer or veto it."
        case .afterSend: "After a notification was accepted."
        case .beforeDeliver: "Before a notification is delivered to the devices of one platform. The hook may skip or defer devices."
        case .onOutcome: "After a notification has ended."
        case .onRegister: "Before a registration or an installation is stored. The hook may change its tags or veto it."
        case .onLogin: "After a user was authenticated. The hook may veto the login."
        case .onSecureFetch: "Before a user reads a secure payload, whose content the hook does not see. The hook may veto it."
        }
    }
}
