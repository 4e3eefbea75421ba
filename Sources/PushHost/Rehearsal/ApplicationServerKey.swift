import Crypto
import PushCore

/// The key pair that the rehearsal's web app subscribes with and its hub signs with (RFC 8292). It follows from the seed,
/// for its public half is seen on the wire; it is made when a browser needs it.
struct ApplicationServerKey: Sendable {
    let seed: UInt64

    var privateKey: P256.Signing.PrivateKey {
        let random = SeededRandom.derived(from: seed, for: "VAPID")
        while true {
            if let key = try? P256.Signing.PrivateKey(rawRepresentation: random.bytes(32)) { return key }
        }
    }

    /// 65 bytes, uncompressed.
    var publicKey: [UInt8] { Array(privateKey.publicKey.x963Representation) }
}
