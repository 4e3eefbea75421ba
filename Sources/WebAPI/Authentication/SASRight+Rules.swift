import PushModel

extension SASRight {
    /// The corresponding right of authorization rules.
    var ruleRight: AuthorizationRule.Right {
        switch self {
        case .listen: .listen
        case .send: .send
        case .manage: .manage
        }
    }
}
