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

    package init(
        environment: HubEnvironment, accounts: AccountService, securePayloads: SecurePayloadService, hub: String,
        variant: BackendVariant = .notifyUsers, issuer: TokenIssuer? = nil
    ) {
        (self.environment, self.accounts, self.securePayloads) = (environment, accounts, securePayloads)
        (self.hub, self.variant, self.issuer) = (hub, variant, issuer)
    }

    /// The app backend over a hub.
    func backend(of hub: ServedHub) -> AppBackend {
        AppBackend(environment: environment, accounts: accounts, hub: AcceptingHub(hub.service), securePayloads: securePayloads)
    }
}
