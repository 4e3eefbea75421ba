import Crypto
import PushModel

/// Measures the minimal cost of every Web Push message: a new key, and the secret that it shares with the browser's key (RFC 8291,
/// section 3.1).
///
///     DeliveryBenchmark curve MESSAGES
///
/// Prints the number of messages, the elapsed seconds, and the CPU seconds of the process.
struct CurveRun {
    let messages: Int

    func run() throws {
        let (browser, random) = (P256.KeyAgreement.PrivateKey().publicKey, MachineRandom())
        let start = ProcessUsage.now
        for _ in 0..<messages {
            let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: random.bytes(32))
            _ = try key.sharedSecretFromKeyAgreement(with: browser)
        }
        let spent = ProcessUsage.now - start
        print("\(messages) \(spent.passed) \(spent.processor)")
    }
}
