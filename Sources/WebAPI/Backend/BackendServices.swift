package import PushBackend
package import PushHub
package import PushModel

/// The services that the app backend uses, shared by all hubs.
package struct BackendServices: Sendable {
    package var environment: HubEnvironment
    package var accounts: AccountService
    package var securePayloads: SecurePayloadService
    /// The hub for paths that name none.
    package var hub: String
    /// The variant for paths that name none.
    package var variant: TutorialVariant
    /// The issuer whose tokens are accepted in addition to the backend's own; nil for none.
    package var issuer: TokenIssuer?
    /// Requires approval for large sends; nil: no approval is required.
    package var sendGuard: SendGuard?

    package init(
        environment: HubEnvironment, accounts: AccountService, securePayloads: SecurePayloadService, hub: String,
        variant: TutorialVariant = .notifyUsers, issuer: TokenIssuer? = nil
    ) {
        (self.environment, self.accounts, self.securePayloads) = (environment, accounts, securePayloads)
        (self.hub, self.variant, self.issuer) = (hub, variant, issuer)
    }

    /// A copy that requires approval for large sends.
    package func guarded(by sendGuard: SendGuard) -> BackendServices {
        var services = self
        services.sendGuard = sendGuard
        return services
    }

    /// The admission check of users' sends, for which the server is the requester.
    private func admission(to hub: ServedHub) -> SendAdmission? {
        let approvalHub = Approval.Hub(number: hub.record.number, name: hub.record.name)
        return sendGuard?.admission(SendGuard.Sender(.server, ceiling: nil, hub: approvalHub))
    }

    /// The app backend for a hub.
    func backend(of hub: ServedHub) -> AppBackend {
        AppBackend(
            environment: environment, accounts: accounts, hub: LimitedHub(hub.service, admission(to: hub), waitsForResults: false),
            securePayloads: securePayloads)
    }
}
