package import Crypto

/// The keys of a subscription, which messages to it are encrypted with (RFC 8291, section 3).
package struct WebPushRecipient: Sendable {
    /// The user agent's public key, `p256dh`.
    package let key: P256.KeyAgreement.PublicKey
    /// The same key as 65 bytes, uncompressed (SEC 1, section 2.3.3).
    let point: [UInt8]
    /// The authentication secret, `auth`: 16 bytes.
    package let secret: [UInt8]

    /// Returns `nil` if `p256dh` is not a point on the curve or `auth` is not 16 bytes.
    package init?(p256dh: String, auth: String) {
        guard let point = Base64URL.decode(p256dh), let secret = Base64URL.decode(auth), secret.count == 16,
            let key = try? P256.KeyAgreement.PublicKey(x963Representation: point)
        else { return nil }
        self.key = key
        self.point = point
        self.secret = secret
    }
}
