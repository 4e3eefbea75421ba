import PushHub
import PushModel

/// The caller of a request, with its rule and hub.
struct HubCaller: Sendable {
    let hub: ServedHub
    let rule: AuthorizationRule
    let principal: Principal
}
