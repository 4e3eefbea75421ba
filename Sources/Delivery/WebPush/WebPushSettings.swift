import Crypto
import PushCore

/// Who the hub is towards the browsers' push services: Voluntary Application Server Identification (RFC 8292).
package struct WebPushSettings: Sendable {
    /// Where a push service may complain: `mailto:` or `https:` (RFC 8292, section 2.1; Apple demands one).
    package var subject: String
    /// The P-256 key that web apps subscribe with (`applicationServerKey`): 65 bytes, base64url.
    package var publicKey: String
    /// Its private half: 32 bytes in base64url, PEM, or another form that ``VAPIDKeyText`` reads.
    package var privateKey: Secret
    /// Origins that are reached although they are plain HTTP or not public, such as `http://127.0.0.1:8080`. Everything
    /// else must be https on a public host: endpoints come from devices.
    package var allowedOrigins: [String]
    /// Whether hosts need not be public.
    package var allowsPrivate = false

    package init(subject: String, publicKey: String, privateKey: Secret, allowedOrigins: [String] = []) {
        self.subject = subject
        self.publicKey = VAPIDKeyText(publicKey).publicKey ?? publicKey
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
        publicKey = Base64URL.encode(try VAPIDKeyText(privateKey.reveal()).privateKey().publicKey.x963Representation)
    }

    /// A new private key: 32 bytes in base64url.
    package static func newKey() -> Secret { Secret(Base64URL.encode(P256.Signing.PrivateKey().rawRepresentation)) }

    /// Whether a contact is named that push services accept, and the keys are a pair. Throws `credential.invalid`.
    package func check() throws(PushError) {
        _ = try signer()
        guard let warning = Self.warning(ofSubject: subject) else { return }
        throw .invalidCredential(warning, Self.contactHint)
    }

    /// Whether pushes can be signed, though some push services may refuse them. Throws `credential.invalid`.
    package func checkSigning() throws(PushError) { _ = try signer() }

    /// Why some push services refuse every push with this subject; nil where none is known to.
    package static func warning(ofSubject subject: String) -> String? {
        WebPushContact(subject)?.isPublic == false
            ? "the subject of Web Push, \(subject.excerpt), names no public host: Apple refuses every push with it (403)" : nil
    }

    package static let contactHint = "use mailto: and an address on a public domain, such as mailto:ops@example.com"

    /// The private key, if the subject is a contact and the keys are a pair. Throws `credential.invalid`.
    func signer() throws(PushError) -> P256.Signing.PrivateKey {
        guard WebPushContact(subject) != nil else {
            throw .invalidCredential(
                "the subject of Web Push is neither a mailto: nor an https: URI",
                "write mailto: and the address of whoever runs this sender")
        }
        let key = try VAPIDKeyText(privateKey.reveal()).privateKey()
        guard VAPIDKeyText(publicKey).publicKey == Base64URL.encode(key.publicKey.x963Representation) else {
            throw .invalidCredential(
                "the public VAPID key does not belong to the private one",
                "pass both keys of one pair; the public one is what web apps subscribe with")
        }
        return key
    }
}

/// The contact of a sender of Web Push (RFC 8292, section 2.1): a mailto: or an https: URI.
struct WebPushContact {
    /// Nil for an IP address in brackets.
    private let host: WebAddress?

    /// Nil for anything else.
    init?(_ subject: String) {
        if subject.hasPrefix("https:") {
            guard let address = WebAddress(subject) else { return nil }
            host = address
            return
        }
        let address = subject.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
        guard subject.hasPrefix("mailto:"), address.count == 2, !address.contains(""),
            subject.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        let domain = address[1].prefix { $0 != "?" }
        host = WebAddress("https://\(domain)")
    }

    /// Whether the host is one of the public Internet: a name with a dot and no local ending, or a public address.
    var isPublic: Bool { host?.isPublic ?? false }
}
