/// A phase of the work in which plugins are called.
package enum HookPhase: String, Sendable, CaseIterable {
    case beforeSend = "before_send"
    case afterSend = "after_send"
    case beforeDeliver = "before_deliver"
    case onOutcome = "on_outcome"
    case onRegister = "on_register"
    case onLogin = "on_login"
    case onSecureFetch = "on_secure_fetch"
}
