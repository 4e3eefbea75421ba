import Crypto
import FoundationEssentials
import JWTKit
import PushModel
import Synchronization

/// Signs and caches VAPID tokens, one for each origin that is sent to (RFC 8292, section 2).
final class WebPushVAPID: Sendable {
    /// Push services accept at most 24 hours; half of that tolerates clocks that differ.
    static let lifetime: Duration = .seconds(12 * 3600)
    static let renewalAge: Duration = .seconds(11 * 3600)
    /// Bounds the cache: endpoints, and so their origins, come from devices.
    private static let mostOrigins = 1024

    private struct Claims: JWTPayload {
        let aud: String
        let exp: Int64
        let sub: String

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let subject: String
    private let publicKey: String
    private let key: ES256PrivateKey
    private let clock: any HubClock
    private let tokens = Mutex<[String: SharedCredential]>([:])

    /// Throws `credential.invalid` if the subject is not a contact or the keys are not a pair.
    init(settings: WebPushSettings, clock: any HubClock) throws(PushError) {
        let pair = try settings.signer()
        do {
            key = try ES256PrivateKey(backing: pair)
        } catch {
            throw .invalidCredential("the private VAPID key cannot sign", "pass 32 bytes in base64url, or PEM")
        }
        subject = settings.subject
        publicKey = Base64URL.encode(pair.publicKey.x963Representation)
        self.clock = clock
    }

    /// The value of `Authorization` for an origin (RFC 8292, section 3).
    func authorization(for origin: String) async throws(DeliveryFailure) -> Secret {
        let token = tokens.withLock { tokens in
            if let known = tokens[origin] { return known }
            if tokens.count >= Self.mostOrigins { tokens = [:] }
            let new = SharedCredential()
            tokens[origin] = new
            return new
        }
        let credential = try await token.credential(now: clock.now) { () async throws(DeliveryFailure) in
            try await sign(for: origin)
        }
        return Secret("vapid t=\(credential.token.reveal()), k=\(publicKey)")
    }

    private func sign(for origin: String) async throws(DeliveryFailure) -> Credential {
        let now = clock.now
        let expires = now + Self.lifetime
        do {
            let keys = JWTKeyCollection()
            await keys.add(ecdsa: key)
            let token = try await keys.sign(Claims(aud: origin, exp: expires.seconds, sub: subject))
            return Credential(token: Secret(token), issued: now, renewal: now + Self.renewalAge, expires: expires)
        } catch {
            throw DeliveryFailure(
                verdict: .rejected(
                    Rejection(
                        status: 0, reason: "SigningFailed", explanation: "the VAPID key could not sign a token",
                        outcome: .invalidCredentials)))
        }
    }
}
