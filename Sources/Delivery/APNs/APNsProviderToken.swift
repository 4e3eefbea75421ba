import Crypto
import JWTKit
import PushCore

/// The signed token of one team and key, shared by everything that is sent with it.
///
/// Apple takes a token for an hour and refuses more than one new token per 20 minutes ("Establishing a token-based
/// connection to APNs"); this one is signed anew after 50 minutes. The limit counts per team, so that connectors with
/// the same team and key belong to the same instance. For the same reason it is kept in a store, where there is one: a process that
/// starts goes on with the token of the process before.
package final class APNsProviderToken: Sendable {
    static let lifetime: Duration = .seconds(60 * 60)
    static let renewalAge: Duration = .seconds(50 * 60)
    static let smallestInterval: Duration = .seconds(20 * 60)
    /// How far ahead of the clock a stored token may have been signed: a clock that is set right must not cost a token at each start.
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
    /// What it is kept under: nobody learns the signing key from it.
    private let storeKey: String
    private let shared = SharedCredential()

    /// Throws `credential.invalid` if the key cannot sign, or if there is none.
    package init(
        settings: APNsSettings, clock: any HubClock, store: (any ProviderTokenStore)? = nil
    ) throws(PushError) {
        guard let own = settings.signingKey else {
            throw .invalidCredential("a certificate signs no provider tokens", "give a signing key, its id and the team's")
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

    /// When the token that is in use was signed; nil before the first.
    package var issued: Timestamp? { shared.current(otherThan: nil)?.issued }

    func credential() async throws(Undelivered) -> Credential {
        try await shared.credential(now: clock.now) { () async throws(Undelivered) in try await keptOrNew() }
    }

    /// Another token in place of one that APNs called expired; nil when Apple would not take a new one yet.
    func replacement(for expired: Credential) async throws(Undelivered) -> Credential? {
        guard shared.current(otherThan: expired) != nil || clock.now - expired.issued >= Self.smallestInterval else {
            return nil
        }
        return try await shared.credential(otherThan: expired, now: clock.now) { () async throws(Undelivered) in
            try await keptOrNew(otherThan: expired)
        }
    }

    /// The token of another process or connector, as long as it serves, or else a new one, which is kept for others.
    private func keptOrNew(otherThan expired: Credential? = nil) async throws(Undelivered) -> Credential {
        let now = clock.now
        if let kept = try? await store?.token(storeKey), kept.token != expired?.token, kept.issuedAt <= now + Self.clockSkew,
            now < kept.issuedAt + Self.renewalAge
        {
            return Self.credential(kept.token, issued: kept.issuedAt)
        }
        let credential = try await sign()
        // Where it cannot be kept, the next process signs one of its own.
        try? await store?.put(ProviderToken(token: credential.token, issuedAt: credential.issued), for: storeKey)
        return credential
    }

    private static func credential(_ token: Secret, issued: Timestamp) -> Credential {
        Credential(token: token, issued: issued, renewal: issued + renewalAge, expires: issued + lifetime)
    }

    private func sign() async throws(Undelivered) -> Credential {
        let now = clock.now
        do {
            let kid = JWKIdentifier(string: keyID)
            let keys = JWTKeyCollection()
            await keys.add(ecdsa: key, kid: kid)
            let token = try await keys.sign(Claims(iss: teamID, iat: now.seconds), kid: kid)
            return Self.credential(Secret(token), issued: now)
        } catch {
            throw Undelivered(
                verdict: .rejected(
                    Rejection(
                        status: 0, reason: "SigningFailed", explanation: "the APNs key could not sign a provider token",
                        outcome: .invalidCredentials)))
        }
    }
}
