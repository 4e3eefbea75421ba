import Crypto

/// A browser's subscription, with its private keys (W3C, "Push API"; RFC 8291 section 3).
struct WebPushSubscription: Sendable {
    let endpoint: String
    let key: P256.KeyAgreement.PrivateKey
    /// The authentication secret: 16 bytes.
    let secret: [UInt8]
    /// The only key that may sign for it, 65 bytes; `nil` if the web app gave none.
    let applicationServerKey: [UInt8]?

    init(endpoint: String, applicationServerKey: [UInt8]?, random: SimulatorRandom) {
        self.endpoint = endpoint
        self.applicationServerKey = applicationServerKey
        key = Self.key(random)
        secret = random.bytes(16)
    }

    /// Generates a private key. Nearly all 32-byte values are valid; invalid ones are drawn again.
    private static func key(_ random: SimulatorRandom) -> P256.KeyAgreement.PrivateKey {
        while true {
            if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: random.bytes(32)) { return key }
        }
    }

    /// The public key: 65 bytes, uncompressed.
    var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

    /// The subscription as `JSON.stringify(subscription)` writes it.
    var text: String { json.text }

    var json: JSONValue {
        JSONValue(members: [
            "endpoint": .string(endpoint), "expirationTime": .null,
            "keys": JSONValue(members: [
                "p256dh": .string(Base64URL.text(publicKey)), "auth": .string(Base64URL.text(secret)),
            ]),
        ])
    }
}
