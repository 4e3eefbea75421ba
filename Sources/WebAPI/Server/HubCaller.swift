import PushCore

/// Who asks, with which rule, and for which hub.
struct HubCaller: Sendable {
    let hub: ServedHub
    let rule: AuthorizationRule
    let principal: Principal
}
