import Crypto

/// The user agent's half of a subscription: what a message for it is encrypted with (RFC 8291, section 3).
package struct WebPushRecipient: Sendable {
    /// `p256dh`
    package let key: P256.KeyAgreement.PublicKey
    /// The same as 65 bytes, uncompressed (SEC 1, section 2.3.3).
    let point: [UInt8]
    /// `auth`, 16 bytes.
    package let secret: [UInt8]

    /// Nil for a key that is no point of the curve, and for a secret of another length.
    package init?(p256dh: String, auth: String) {
        guard let point = Base64URL.decode(p256dh), let secret = Base64URL.decode(auth), secret.count == 16,
            let key = try? P256.KeyAgreement.PublicKey(x963Representation: point)
        else { return nil }
        self.key = key
        self.point = point
        self.secret = secret
    }
}
