import JWTKit
import PushCore

/// The signed token of one team and key, shared by everything that is sent with it.
///
/// Apple takes a token for an hour and refuses more than one new token per 20 minutes ("Establishing a token-based
/// connection to APNs"); this one is signed anew after 50 minutes. The limit counts per team, so that connectors with
/// the same team and key belong to the same instance.
package final class APNsProviderToken: Sendable {
    static let lifetime: Duration = .seconds(60 * 60)
    static let renewalAge: Duration = .seconds(50 * 60)
    static let smallestInterval: Duration = .seconds(20 * 60)

    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let teamID: String
    private let keyID: String
    private let key: ES256PrivateKey
    private let clock: any HubClock
    private let shared = SharedCredential()

    /// Throws `credential.invalid` if the key cannot sign.
    package init(settings: APNsSettings, clock: any HubClock) throws(PushError) {
        teamID = settings.teamID
        keyID = settings.keyID
        self.clock = clock
        do {
            key = try ES256PrivateKey(pem: settings.privateKey.reveal())
        } catch {
            throw .invalidCredential(
                "the APNs signing key is not a P-256 private key in PEM",
                "pass the text of the .p8 file from Apple's developer account")
        }
    }

    func credential() async throws(Undelivered) -> Credential {
        try await shared.credential(now: clock.now) { () async throws(Undelivered) in try await sign() }
    }

    /// Another token in place of one that APNs called expired; nil when Apple would not take a new one yet.
    func replacement(for expired: Credential) async throws(Undelivered) -> Credential? {
        guard shared.current(otherThan: expired) != nil || clock.now - expired.issued >= Self.smallestInterval else {
            return nil
        }
        return try await shared.credential(otherThan: expired, now: clock.now) { () async throws(Undelivered) in
            try await sign()
        }
    }

    private func sign() async throws(Undelivered) -> Credential {
        let now = clock.now
        do {
            let kid = JWKIdentifier(string: keyID)
            let keys = JWTKeyCollection()
            await keys.add(ecdsa: key, kid: kid)
            let token = try await keys.sign(Claims(iss: teamID, iat: now.seconds), kid: kid)
            return Credential(
                token: Secret(token), issued: now, renewal: now + Self.renewalAge, expires: now + Self.lifetime)
        } catch {
            throw Undelivered(
                verdict: .rejected(
                    Rejection(
                        status: 0, reason: "SigningFailed", explanation: "the APNs key could not sign a provider token",
                        outcome: .invalidCredentials)))
        }
    }
}
