import Crypto
import PushCore

/// What every message of Web Push costs at least, whoever sends it: a new key, and the secret that it shares with the browser's (RFC 8291,
/// section 3.1).
///
///     DeliveryBenchmark curve MESSAGES
///
/// Prints how many, the seconds that passed and the CPU seconds of the process.
struct CurveRun {
    let messages: Int

    func run() throws {
        let (browser, random) = (P256.KeyAgreement.PrivateKey().publicKey, MachineRandom())
        let start = Moment.now
        for _ in 0..<messages {
            let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: random.bytes(32))
            _ = try key.sharedSecretFromKeyAgreement(with: browser)
        }
        let spent = Moment.now - start
        print("\(messages) \(spent.passed) \(spent.processor)")
    }
}
