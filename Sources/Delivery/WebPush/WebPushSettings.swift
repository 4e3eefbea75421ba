import Crypto
package import PushModel

/// The hub's identity towards push services: Voluntary Application Server Identification, VAPID (RFC 8292).
package struct WebPushSettings: Sendable {
    /// The contact of the sender, `mailto:` or `https:` (RFC 8292, section 2.1). Apple requires one.
    package var subject: String
    /// The P-256 public key that web apps subscribe with (`applicationServerKey`): 65 bytes, base64url.
    package var publicKey: String
    /// The private key: 32 bytes in base64url, PEM, or another format that ``VAPIDKeyText`` reads.
    package var privateKey: Secret
    /// Origins that are allowed although they are plain HTTP or not public, such as `http://127.0.0.1:8080`. All others must be https on a
    /// public host, because endpoints come from devices.
    package var allowedOrigins: [String]
    /// Whether hosts may be non-public.
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
    /// Derives the public key from the private key. Throws `credential.invalid`.
    package init(subject: String, privateKey: Secret) throws(PushError) {
        self.init(subject: subject, publicKey: "", privateKey: privateKey)
        publicKey = Base64URL.encode(try VAPIDKeyText(privateKey.reveal()).privateKey().publicKey.x963Representation)
    }

    /// Generates a private key: 32 bytes in base64url.
    package static func newKey() -> Secret { Secret(Base64URL.encode(P256.Signing.PrivateKey().rawRepresentation)) }

    /// Checks that the keys are a pair and the subject is a contact that all push services accept. Throws `credential.invalid`.
    package func check() throws(PushError) {
        _ = try signer()
        guard let warning = Self.warning(ofSubject: subject) else { return }
        throw .invalidCredential(warning, Self.contactHint)
    }

    /// Checks that pushes can be signed, even if some push services reject the subject. Throws `credential.invalid`.
    package func checkSigning() throws(PushError) { _ = try signer() }

    /// Why some push services reject every push with this subject; `nil` if none is known to.
    package static func warning(ofSubject subject: String) -> String? {
        WebPushContact(subject)?.isPublic == false
            ? "the subject of Web Push, \(subject.excerpt), has no public host: Apple rejects every push with it (403)" : nil
    }

    package static let contactHint = "use mailto: and an address on a public domain, such as mailto:ops@example.com"

    /// Returns the private key if the subject is a contact and the keys are a pair. Throws `credential.invalid`.
    func signer() throws(PushError) -> P256.Signing.PrivateKey {
        guard WebPushContact(subject) != nil else {
            throw .invalidCredential(
                "the subject of Web Push is neither a mailto: nor an https: URI",
                "use mailto: and the address of the sender's operator")
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

/// The contact of a Web Push sender (RFC 8292, section 2.1): a mailto: or https: URI.
struct WebPushContact {
    /// `nil` for a domain that does not parse, such as an IP address in brackets.
    private let host: WebAddress?

    /// Returns `nil` if the subject is not a mailto: or https: URI.
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

    /// Whether the host is public: a name with a dot and no local suffix, or a public address.
    var isPublic: Bool { host?.isPublic ?? false }
}
