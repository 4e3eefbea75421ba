import Crypto
import FoundationEssentials
import JWTKit
import PushCore
import Synchronization

/// The signed tokens of one application server, one for every origin that it sends to (RFC 8292, section 2).
final class WebPushVAPID: Sendable {
    /// A push service takes at most 24 hours; half of that bears clocks that disagree.
    static let lifetime: Duration = .seconds(12 * 3600)
    static let renewalAge: Duration = .seconds(11 * 3600)
    /// Endpoints come from devices, so that their origins must not fill the memory.
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

    /// Throws `credential.invalid` for a subject nobody can write to, and for keys that are none or no pair.
    init(settings: WebPushSettings, clock: any HubClock) throws(PushError) {
        guard Self.isContact(settings.subject) else {
            throw .invalidCredential(
                "the subject of Web Push is neither a mailto: nor an https: URI",
                "write mailto: and the address of whoever runs this sender")
        }
        guard let pair = Self.privateKey(settings.privateKey), let key = try? ES256PrivateKey(backing: pair) else {
            throw .invalidCredential(
                "the private VAPID key is not a P-256 key", "pass 32 bytes in base64url, or PEM")
        }
        guard Base64URL.decode(settings.publicKey) == Array(pair.publicKey.x963Representation) else {
            throw .invalidCredential(
                "the public VAPID key does not belong to the private one",
                "pass both keys of one pair; the public one is what web apps subscribe with")
        }
        subject = settings.subject
        publicKey = settings.publicKey
        self.key = key
        self.clock = clock
    }

    /// The value of `Authorization` for an origin (RFC 8292, section 3).
    func authorization(for origin: String) async throws(Undelivered) -> Secret {
        let token = tokens.withLock { tokens in
            if let known = tokens[origin] { return known }
            if tokens.count >= Self.mostOrigins { tokens = [:] }
            let new = SharedCredential()
            tokens[origin] = new
            return new
        }
        let credential = try await token.credential(now: clock.now) { () async throws(Undelivered) in
            try await sign(for: origin)
        }
        return Secret("vapid t=\(credential.token.reveal()), k=\(publicKey)")
    }

    private func sign(for origin: String) async throws(Undelivered) -> Credential {
        let now = clock.now
        let expires = now + Self.lifetime
        do {
            let keys = JWTKeyCollection()
            await keys.add(ecdsa: key)
            let token = try await keys.sign(Claims(aud: origin, exp: expires.seconds, sub: subject))
            return Credential(token: Secret(token), issued: now, renewal: now + Self.renewalAge, expires: expires)
        } catch {
            throw Undelivered(
                verdict: .rejected(
                    Rejection(
                        status: 0, reason: "SigningFailed", explanation: "the VAPID key could not sign a token",
                        outcome: .invalidCredentials)))
        }
    }

    private static func isContact(_ subject: String) -> Bool {
        if subject.hasPrefix("https:") { return WebAddress(subject) != nil }
        let address = subject.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
        return subject.hasPrefix("mailto:") && address.count == 2 && !address.contains("")
            && subject.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    private static func privateKey(_ secret: Secret) -> P256.Signing.PrivateKey? {
        let text = secret.reveal()
        if text.hasPrefix("-----BEGIN") { return try? P256.Signing.PrivateKey(pemRepresentation: text) }
        return Base64URL.decode(text).flatMap { try? P256.Signing.PrivateKey(rawRepresentation: $0) }
    }
}
