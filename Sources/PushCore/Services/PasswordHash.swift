import Crypto
import CryptoExtras

/// A salted scrypt hash (RFC 7914) with the cost it was made at: r = 8, p = 1, 32 bytes.
package struct PasswordHash: Sendable, Equatable {
    /// scrypt's N, a power of two.
    package let cost: Int
    package let salt: [UInt8]
    /// What scrypt made of the password.
    package let digest: [UInt8]

    /// A hash that was made before.
    package init(cost: Int, salt: [UInt8], digest: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.digest = digest
    }

    package init(of password: Secret, salt: [UInt8], cost: ScryptCost) throws(PushError) {
        self.cost = cost.n
        self.salt = salt
        digest = try Self.derive(password, salt: salt, cost: cost.n)
    }

    /// Costs as much for a wrong password as for the right one, and compares in constant time.
    package func matches(_ password: Secret) throws(PushError) -> Bool {
        isDigest(try Self.derive(password, salt: salt, cost: cost))
    }

    /// Compares in constant time.
    func isDigest(_ candidate: [UInt8]) -> Bool {
        zip(candidate, digest).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0 && candidate.count == digest.count
    }

    /// What scrypt makes of a password: takes its time, and 1 KiB for each unit of the cost.
    static func derive(_ password: Secret, salt: [UInt8], cost: Int) throws(PushError) -> [UInt8] {
        do {
            let key = try KDF.Scrypt.deriveKey(
                from: Array(password.reveal().utf8), salt: salt, outputByteCount: 32, rounds: cost, blockSize: 8,
                parallelism: 1)
            return key.withUnsafeBytes(Array.init)
        } catch {
            throw PushError("auth.hash", "the password could not be hashed with N = \(cost)", status: 500)
        }
    }
}

/// How dear a hash is to make and to guess.
package struct ScryptCost: Sendable, Equatable {
    package let n: Int

    /// For accounts that live as long as a rehearsal: hashing is exercised, not paid for.
    package static let rehearsal = ScryptCost(unchecked: 16)
    /// For accounts that are served: 128 MiB and some hundred milliseconds per guess.
    package static let served = ScryptCost(unchecked: 1 << 17)

    private init(unchecked n: Int) {
        self.n = n
    }

    /// The cost of a served account. Throws `auth.cost` below 2^17 or when it is no power of two.
    package init(served n: Int) throws(PushError) {
        guard n >= ScryptCost.served.n, n.nonzeroBitCount == 1 else {
            throw PushError(
                "auth.cost", "scrypt cost N = \(n) is refused for served accounts",
                hint: "use a power of two from 131072 on", status: 400)
        }
        self.n = n
    }
}
