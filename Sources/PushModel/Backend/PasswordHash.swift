import Crypto
import CryptoExtras

/// A salted scrypt hash (RFC 7914) and its cost: r = 8, p = 1, 32 bytes.
package struct PasswordHash: Sendable, Equatable {
    /// scrypt's N, a power of two.
    package let cost: Int
    package let salt: [UInt8]
    /// The derived key.
    package let digest: [UInt8]

    /// Creates a hash from its stored parts.
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

    /// Whether the password is right. Takes the same time for a wrong password, and compares in constant time.
    package func matches(_ password: Secret) throws(PushError) -> Bool {
        isDigest(try Self.derive(password, salt: salt, cost: cost))
    }

    /// Compares in constant time.
    package func isDigest(_ candidate: [UInt8]) -> Bool {
        zip(candidate, digest).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0 && candidate.count == digest.count
    }

    /// Derives the key of a password with scrypt. Needs 1 KiB for each unit of the cost.
    package static func derive(_ password: Secret, salt: [UInt8], cost: Int) throws(PushError) -> [UInt8] {
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

/// The cost of computing and of guessing a hash.
package struct ScryptCost: Sendable, Equatable {
    package let n: Int

    /// For rehearsals: the code is exercised at almost no cost.
    package static let rehearsal = ScryptCost(unchecked: 16)
    /// For real accounts: 128 MiB and some hundred milliseconds per guess.
    package static let served = ScryptCost(unchecked: 1 << 17)

    private init(unchecked n: Int) {
        self.n = n
    }

    /// The cost for real accounts. Throws `auth.cost` below 2^17, or if it is not a power of two.
    package init(served n: Int) throws(PushError) {
        guard n >= ScryptCost.served.n, n.nonzeroBitCount == 1 else {
            throw PushError(
                "auth.cost", "invalid scrypt cost N = \(n) for served accounts",
                hint: "use a power of two, at least 131072", status: 400)
        }
        self.n = n
    }
}
