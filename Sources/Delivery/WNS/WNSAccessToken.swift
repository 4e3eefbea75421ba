import PushModel

/// The access token of one package, shared by all its requests.
final class WNSAccessToken: Sendable {
    private let settings: WNSSettings
    private let clock: any HubClock
    private let grant: AccessTokenGrant
    private let shared = SharedCredential()

    /// Throws `credential.invalid` if the token URI is invalid.
    init(settings: WNSSettings, transport: any PushTransport, clock: any HubClock) throws(PushError) {
        self.settings = settings
        self.clock = clock
        guard let endpoint = WebAddress(settings.tokenURI) else {
            throw .invalidCredential("the token URI of WNS is not a URI", "use \(WNSSettings.tokenURI)")
        }
        grant = AccessTokenGrant(service: "WNS", endpoint: endpoint, transport: transport, clock: clock)
    }

    func credential(otherThan refused: Credential? = nil) async throws(DeliveryFailure) -> Credential {
        try await shared.credential(otherThan: refused, now: clock.now) { () async throws(DeliveryFailure) in
            try await grant.credential(form: [
                "grant_type": "client_credentials",
                "client_id": settings.packageSID,
                "client_secret": settings.clientSecret.reveal(),
                "scope": "notify.windows.com",
            ])
        }
    }
}
