import Crypto
import JWTKit
package import PushModel
import Synchronization

/// The signed provider token of one team and key, shared by all requests that use this key.
///
/// APNs accepts a token for one hour and rejects more than one new token per 20 minutes ("Establishing a token-based connection to APNs").
/// This class renews it after 50 minutes. The limit counts per team, so connectors with the same team and key must share one instance. For
/// the same reason the token is stored, if there is a store: after a restart the new process uses the token of the old one.
package final class APNsProviderToken: Sendable {
    static let lifetime: Duration = .seconds(60 * 60)
    static let renewalAge: Duration = .seconds(50 * 60)
    static let smallestInterval: Duration = .seconds(20 * 60)
    /// How far in the future a stored token may have been signed. After a small correction of the clock, a restart must not cost a new
    /// token.
    static let clockSkew: Duration = .seconds(60)

    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let teamID: String
    private let keyID: String
    private let key: ES256PrivateKey
    private let clock: any HubClock
    private let store: (any ProviderTokenStore)?
    /// The key of the store: a hash, from which the signing key cannot be recovered.
    private let storeKey: String
    private let shared = SharedCredential()
    /// The latest token with which APNs has accepted a push.
    private let accepted = Mutex<Credential?>(nil)

    /// Throws `credential.invalid` if the settings have no signing key, or one that cannot sign.
    package init(
        settings: APNsSettings, clock: any HubClock, store: (any ProviderTokenStore)? = nil
    ) throws(PushError) {
        guard let own = settings.signingKey else {
            throw .invalidCredential("a certificate cannot sign provider tokens", "give a signing key, its key id and the team id")
        }
        self.store = store
        let parts = ["apns", own.teamID, own.keyID, own.privateKey.reveal()]
        storeKey = SHA256.hash(data: Array(parts.joined(separator: "\n").utf8)).map { String($0, radix: 16) }.joined(separator: ":")
        teamID = own.teamID
        keyID = own.keyID
        self.clock = clock
        let signer = try own.signer()
        do {
            key = try ES256PrivateKey(backing: signer)
        } catch {
            throw .invalidCredential(
                "the APNs signing key cannot sign", "pass the .p8 file from Apple's developer account, unchanged")
        }
    }

    /// When the current token was signed; `nil` before the first one.
    package var issued: Timestamp? { shared.current(otherThan: nil)?.issued }

    func credential() async throws(DeliveryFailure) -> Credential {
        try await shared.credential(now: clock.now) { () async throws(DeliveryFailure) in try await storedOrNew() }
    }

    /// Whether APNs has accepted a push with this token. Until then it may block it (`TooManyProviderTokenUpdates`).
    func hasBeenAccepted(_ credential: Credential) -> Bool { accepted.withLock { $0 == credential } }

    func noteAccepted(_ credential: Credential) { accepted.withLock { $0 = credential } }

    /// Another token in place of one that APNs called expired; `nil` while Apple would not accept a new one yet.
    func replacement(for expired: Credential) async throws(DeliveryFailure) -> Credential? {
        guard shared.current(otherThan: expired) != nil || clock.now - expired.issued >= Self.smallestInterval else {
            return nil
        }
        return try await shared.credential(otherThan: expired, now: clock.now) { () async throws(DeliveryFailure) in
            try await storedOrNew(otherThan: expired)
        }
    }

    /// The stored token of another process or connector while it is usable, otherwise a new one, which is then stored.
    private func storedOrNew(otherThan expired: Credential? = nil) async throws(DeliveryFailure) -> Credential {
        let now = clock.now
        if let stored = try? await store?.token(storeKey), stored.token != expired?.token, stored.issuedAt <= now + Self.clockSkew,
            now < stored.issuedAt + Self.renewalAge
        {
            return Self.credential(stored.token, issued: stored.issuedAt)
        }
        let credential = try await sign()
        // If storing fails, the next process signs a token of its own.
        try? await store?.put(ProviderToken(token: credential.token, issuedAt: credential.issued), for: storeKey)
        return credential
    }

    private static func credential(_ token: Secret, issued: Timestamp) -> Credential {
        Credential(token: token, issued: issued, renewal: issued + renewalAge, expires: issued + lifetime)
    }

    private func sign() async throws(DeliveryFailure) -> Credential {
        let now = clock.now
        do {
            let kid = JWKIdentifier(string: keyID)
            let keys = JWTKeyCollection()
            await keys.add(ecdsa: key, kid: kid)
            let token = try await keys.sign(Claims(iss: teamID, iat: now.seconds), kid: kid)
            return Self.credential(Secret(token), issued: now)
        } catch {
            throw DeliveryFailure(
                verdict: .rejected(
                    Rejection(
                        status: 0, reason: "SigningFailed", explanation: "the APNs key could not sign a provider token",
                        outcome: .invalidCredentials)))
        }
    }
}
