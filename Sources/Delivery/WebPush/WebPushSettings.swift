import Crypto
import PushCore
import SwiftASN1

/// Who the hub is towards the browsers' push services: Voluntary Application Server Identification (RFC 8292).
package struct WebPushSettings: Sendable {
    /// Where a push service may complain: `mailto:` or `https:` (RFC 8292, section 2.1; Apple demands one).
    package var subject: String
    /// The P-256 key that web apps subscribe with (`applicationServerKey`): 65 bytes, base64url.
    package var publicKey: String
    /// Its private half: 32 bytes in base64url, or PEM.
    package var privateKey: Secret
    /// Origins that are reached although they are plain HTTP or not public, such as `http://127.0.0.1:8080`. Everything
    /// else must be https on a public host: endpoints come from devices.
    package var allowedOrigins: [String]
    /// Whether hosts need not be public.
    package var allowsPrivate = false

    package init(subject: String, publicKey: String, privateKey: Secret, allowedOrigins: [String] = []) {
        self.subject = subject
        self.publicKey = publicKey
        self.privateKey = privateKey
        self.allowedOrigins = allowedOrigins
    }

    func allows(_ endpoint: WebAddress) -> Bool {
        (endpoint.scheme == "https" && (allowsPrivate || endpoint.isPublic))
            || allowedOrigins.contains { WebAddress($0)?.origin == endpoint.origin }
    }
}

extension WebPushSettings {
    /// With the public key that belongs to the private one. Throws `credential.invalid`.
    package init(subject: String, privateKey: Secret) throws(PushError) {
        self.init(subject: subject, publicKey: "", privateKey: privateKey)
        publicKey = Base64URL.encode(try key().publicKey.x963Representation)
    }

    /// A new private key: 32 bytes in base64url.
    package static func newKey() -> Secret { Secret(Base64URL.encode(P256.Signing.PrivateKey().rawRepresentation)) }

    /// Whether somebody can be written to, and the keys are a pair. Throws `credential.invalid`.
    package func check() throws(PushError) { _ = try signer() }

    /// The private key, after all was found to fit. Throws `credential.invalid`.
    func signer() throws(PushError) -> P256.Signing.PrivateKey {
        guard isContact else {
            throw .invalidCredential(
                "the subject of Web Push is neither a mailto: nor an https: URI",
                "write mailto: and the address of whoever runs this sender")
        }
        let key = try key()
        guard Base64URL.decode(publicKey.unpadded) == Array(key.publicKey.x963Representation) else {
            throw .invalidCredential(
                "the public VAPID key does not belong to the private one",
                "pass both keys of one pair; the public one is what web apps subscribe with")
        }
        return key
    }

    private var isContact: Bool {
        if subject.hasPrefix("https:") { return WebAddress(subject) != nil }
        let address = subject.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
        return subject.hasPrefix("mailto:") && address.count == 2 && !address.contains("")
            && subject.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    private func key() throws(PushError) -> P256.Signing.PrivateKey {
        let text = privateKey.reveal()
        let bytes = Array(text.utf8)
        let document = CredentialText.documents(bytes).first { $0.discriminator.hasSuffix("PRIVATE KEY") }
        if let document, let key = try? P256.Signing.PrivateKey(pemRepresentation: document.pemString) { return key }
        let raw = Base64URL.decode(text.filter { !$0.isWhitespace }.unpadded)
        if document == nil, let raw, let key = try? P256.Signing.PrivateKey(rawRepresentation: raw) { return key }
        throw .invalidCredential(
            "the private VAPID key is not a P-256 key: \(raw.map(Self.why) ?? CredentialText.keyKind(bytes))",
            "pass 32 bytes in base64url, or PEM")
    }

    private static func why(_ bytes: [UInt8]) -> String {
        bytes.count == 65 ? "it is a public key" : bytes.isEmpty ? "it is empty" : "it has \(bytes.count) bytes"
    }
}

extension String {
    /// Some tools write base64url with its padding.
    fileprivate var unpadded: String { String(self[..<(lastIndex { $0 != "=" }.map(index(after:)) ?? startIndex)]) }
}
