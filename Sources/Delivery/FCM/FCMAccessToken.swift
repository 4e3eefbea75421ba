import JWTKit
import PushModel

/// The OAuth access token of one service account, shared by all its requests (RFC 7523; Google's "Using OAuth 2.0 for server to server
/// applications").
final class FCMAccessToken: Sendable {
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    private struct Claims: JWTPayload {
        let iss: String
        let scope: String
        let aud: String
        let iat: Int64
        let exp: Int64

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let settings: FCMSettings
    private let key: Insecure.RSA.PrivateKey
    private let clock: any HubClock
    private let grant: AccessTokenGrant
    private let shared = SharedCredential()

    /// Throws `credential.invalid` if the key cannot sign or the token URI is invalid.
    init(settings: FCMSettings, transport: any PushTransport, clock: any HubClock) throws(PushError) {
        self.settings = settings
        self.clock = clock
        guard let endpoint = WebAddress(settings.tokenURI) else {
            throw .invalidCredential("the token URI of the service account is not a URI", "use \(FCMSettings.tokenURI)")
        }
        grant = AccessTokenGrant(service: "FCM", endpoint: endpoint, transport: transport, clock: clock)
        key = try settings.signer()
    }

    func credential(otherThan refused: Credential? = nil) async throws(DeliveryFailure) -> Credential {
        try await shared.credential(otherThan: refused, now: clock.now) { () async throws(DeliveryFailure) in
            try await grant.credential(form: [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                "assertion": try await assertion(),
            ])
        }
    }

    private func assertion() async throws(DeliveryFailure) -> String {
        let now = clock.now.seconds
        let claims = Claims(
            iss: settings.clientEmail, scope: Self.scope, aud: settings.tokenURI, iat: now, exp: now + 3600)
        do {
            let kid = settings.privateKeyID.map { JWKIdentifier(string: $0) }
            let keys = JWTKeyCollection()
            await keys.add(rsa: key, digestAlgorithm: .sha256, kid: kid)
            return try await keys.sign(claims, kid: kid)
        } catch {
            throw DeliveryFailure(
                verdict: .rejected(
                    Rejection(
                        status: 0, reason: "SigningFailed",
                        explanation: "the key of the service account could not sign an assertion",
                        outcome: .invalidCredentials)))
        }
    }
}
