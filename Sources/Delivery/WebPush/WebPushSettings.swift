import PushCore

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

    package init(subject: String, publicKey: String, privateKey: Secret, allowedOrigins: [String] = []) {
        self.subject = subject
        self.publicKey = publicKey
        self.privateKey = privateKey
        self.allowedOrigins = allowedOrigins
    }

    func allows(_ endpoint: WebAddress) -> Bool {
        (endpoint.scheme == "https" && endpoint.isPublic)
            || allowedOrigins.contains { WebAddress($0)?.origin == endpoint.origin }
    }
}
