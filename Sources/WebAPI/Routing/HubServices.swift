package import PushHub
package import PushModel

/// The hubs that are served, and the limits and records of requests to them.
package struct HubServices: Sendable {
    let namespace: Namespace
    let throttles: Throttles
    let credentials: CredentialServices
    let audit: AuditLog?
    let sendGuard: SendGuard?

    /// - Parameters:
    ///   - credentials: Operations on hubs' credentials.
    ///   - audit: The audit log; nil for none.
    ///   - sendGuard: Requires approval for large sends; nil for none.
    package init(
        _ namespace: Namespace, throttles: Throttles, credentials: CredentialServices = .none, audit: AuditLog? = nil,
        sendGuard: SendGuard? = nil
    ) {
        (self.namespace, self.throttles, self.credentials) = (namespace, throttles, credentials)
        (self.audit, self.sendGuard) = (audit, sendGuard)
    }

    /// The access to the hubs through one port.
    func access(_ settings: WebSettings) -> HubAccess {
        HubAccess(
            namespace: namespace, throttle: throttles.requests, testThrottle: throttles.testSends, isTrusted: settings.isTrusted,
            policy: settings.policy, audit: audit, sendGuard: sendGuard)
    }
}
