import PushCore

extension SASRight {
    /// As rules call it.
    var ofRules: AuthorizationRule.Right {
        switch self {
        case .listen: .listen
        case .send: .send
        case .manage: .manage
        }
    }
}
