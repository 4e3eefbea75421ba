import PushCore

/// What a script is run for at the moment, which decides what it may call.
package enum ScriptPhase: Sendable, Hashable, CaseIterable {
    /// A flow, a spec, or a line at a prompt.
    case flow
    /// A plugin's `init.lua` is being run.
    case load
    case hook(HookPhase)
    /// What a plugin's `on_register` left for when the registration is kept.
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

    /// Wherever a script has begun: not while a plugin is being loaded, which must do nothing but describe itself.
    package static let running = everywhere.subtracting([.load])

    /// Where nothing waits for the script's answer: a hook that could change what the hub is about to decide on might wait for itself.
    package static let acting = running.subtracting(HookPhase.allCases.filter(\.isDeciding).map { .hook($0) })

    /// The same of plugins alone.
    package static let pluginsRunning = running.subtracting([.flow])
}

extension HookPhase {
    /// Whether the hub waits for what it answers.
    package var isDeciding: Bool {
        switch self {
        case .beforeSend, .beforeDeliver, .onRegister, .onLogin, .onSecureFetch: true
        case .afterSend, .onOutcome: false
        }
    }

    /// One sentence for the table of phases.
    package var summary: String {
        switch self {
        case .beforeSend: "A notification is about to be accepted: it may be changed, put off or refused."
        case .afterSend: "A notification was accepted."
        case .beforeDeliver: "The devices of one platform are about to get a notification: some may be left out, or wait."
        case .onOutcome: "A notification has ended."
        case .onRegister: "A registration or an installation is about to be kept: its tags may be changed, or it is refused."
        case .onLogin: "A user has proved who they are: the login may be refused."
        case .onSecureFetch: "A user is about to read a secure payload, which is not shown: it may be refused."
        }
    }
}
