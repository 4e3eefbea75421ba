import PushCore

/// What the app backend works with, the same for all hubs.
package struct BackendServices: Sendable {
    package var environment: HubEnvironment
    package var accounts: AccountService
    package var securePayloads: SecurePayloadService
    /// The hub of paths that name none.
    package var hub: String
    /// Of paths that name none.
    package var variant: BackendVariant
    /// Whose tokens are taken beside the backend's own; nil for nobody's.
    package var issuer: TokenIssuer?
    /// Keeps sends to many back; nil for none.
    package var sendGuard: SendGuard?

    package init(
        environment: HubEnvironment, accounts: AccountService, securePayloads: SecurePayloadService, hub: String,
        variant: BackendVariant = .notifyUsers, issuer: TokenIssuer? = nil
    ) {
        (self.environment, self.accounts, self.securePayloads) = (environment, accounts, securePayloads)
        (self.hub, self.variant, self.issuer) = (hub, variant, issuer)
    }

    /// The same, whose sends to many are kept back.
    package func guarded(by sendGuard: SendGuard) -> BackendServices {
        var services = self
        services.sendGuard = sendGuard
        return services
    }

    /// What users of the app send is asked for by the server.
    private func admission(to hub: ServedHub) -> SendAdmission? {
        let place = Approval.Hub(number: hub.record.number, name: hub.record.name)
        return sendGuard?.admission(SendGuard.Sender(.server, ceiling: nil, hub: place))
    }

    /// The app backend over a hub.
    func backend(of hub: ServedHub) -> AppBackend {
        AppBackend(
            environment: environment, accounts: accounts, hub: AcceptingHub(hub.service, admission(to: hub)), securePayloads: securePayloads
        )
    }
}
