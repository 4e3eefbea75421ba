import Crypto
import PushModel

/// The VAPID key pair (RFC 8292) with which the rehearsal's web app subscribes and its hub signs. Derived from the seed, because its public
/// half is visible on the wire; created when a browser first needs it.
struct ApplicationServerKey: Sendable {
    let seed: UInt64

    var privateKey: P256.Signing.PrivateKey {
        let random = SeededRandom.derived(from: seed, for: "VAPID")
        while true {
            if let key = try? P256.Signing.PrivateKey(rawRepresentation: random.bytes(32)) { return key }
        }
    }

    /// The uncompressed point, 65 bytes.
    var publicKey: [UInt8] { Array(privateKey.publicKey.x963Representation) }
}
