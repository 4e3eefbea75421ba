import PushModel

/// Hashes passwords, a limited number at a time. Part of the state of the account service.
final class PasswordHasher {
    let cost: ScryptCost
    private let random: any RandomSource
    private let hashing: AccountService.Hashing
    /// The hash that passwords of unknown users are checked against, so that both cases take the same time. No password matches it.
    private let dummyHash: PasswordHash
    private var limiter = HashingLimiter()

    init(cost: ScryptCost, random: any RandomSource, hashing: @escaping AccountService.Hashing) {
        self.cost = cost
        self.random = random
        self.hashing = hashing
        let digest = random.bytes(32)
        dummyHash = PasswordHash(cost: cost.n, salt: random.bytes(16), digest: digest)
    }

    /// Throws `backend.busy` (503) if too many passwords wait to be hashed.
    func hash(of password: Secret) async throws(PushError) -> PasswordHash {
        try await acquireSlot()
        defer { limiter.leave() }
        let salt = random.bytes(16)
        return PasswordHash(cost: cost.n, salt: salt, digest: try await derive(password, salt: salt, cost: cost.n))
    }

    /// Whether the password has this hash. Takes the same time for nil, the hash of a user without an account, which no password has.
    func isRight(_ password: Secret, _ hash: PasswordHash?) async throws(PushError) -> Bool {
        let hash = hash ?? dummyHash
        try await acquireSlot()
        defer { limiter.leave() }
        // Without this, an account with a cheaper hash would be answered faster, which would reveal that it exists.
        if hash.cost < cost.n { _ = try await derive(password, salt: dummyHash.salt, cost: dummyHash.cost) }
        return hash.isDigest(try await derive(password, salt: hash.salt, cost: hash.cost))
    }

    /// Waits for a free slot. Throws `backend.busy` if the queue is full.
    private func acquireSlot() async throws(PushError) {
        guard !limiter.take() else { return }
        guard !limiter.isQueueFull else { throw Self.busy }
        await withCheckedContinuation { limiter.wait($0) }
    }

    private func derive(_ password: Secret, salt: [UInt8], cost: Int) async throws(PushError) -> [UInt8] {
        try await hashing { () throws(PushError) in try PasswordHash.derive(password, salt: salt, cost: cost) }
    }

    static let busy = PushError(
        "backend.busy", "too many logins in progress", hint: "try again in a few seconds", status: 503, isRetryable: true,
        details: ["retryAfter": 5])
}
