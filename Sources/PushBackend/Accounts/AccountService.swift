import Crypto
import PushModel

/// Accounts, and the sessions of authenticated users.
///
/// User names that differ only in case are one account, because tags ignore case: `username:Alice` would reach Alice and alice alike.
package actor AccountService {
    /// Runs the work of hashing a password where it blocks no other work, and returns its result.
    package typealias Hashing =
        @Sendable (@escaping @Sendable () throws(PushError) -> [UInt8]) async throws(PushError) -> [UInt8]

    let environment: HubEnvironment
    let cost: ScryptCost
    /// Whether names without an account can log in with the name as password, as in the tutorials' samples. Off by default.
    let isTutorialMode: Bool
    let store: any AccountStore
    private let sessionLifetime: Duration
    private let hashing: Hashing
    /// The machine's clock, for credentials sent with every request and for login attempts. It runs on where the hub's clock stands still.
    let wallClock: any HubClock
    /// The hash that passwords of unknown users are checked against, so that both cases take the same time. No password matches it.
    private let decoy: PasswordHash
    private var places = HashingLimiter()
    private var attempts = LoginAttempts()
    var passes = CredentialSessionCache()
    /// Credentials that are being verified.
    var proving = KeyedLock<[UInt8]>()
    /// Random at every start: marks of credentials are valid in this process only.
    let markKey = SymmetricKey(size: .bits256)

    /// - Parameter hashing: runs the hashing work; by default on the caller's thread.
    package init(
        environment: HubEnvironment, store: any AccountStore, cost: ScryptCost, isTutorialMode: Bool = false,
        sessionLifetime: Duration = .seconds(12 * 3600), wallClock: (any HubClock)? = nil,
        hashing: @escaping Hashing = { work throws(PushError) in try work() }
    ) throws(PushError) {
        self.environment = environment
        self.store = store
        self.cost = cost
        self.isTutorialMode = isTutorialMode
        self.sessionLifetime = sessionLifetime
        self.hashing = hashing
        self.wallClock = wallClock ?? environment.clock
        let digest = environment.random.bytes(32)
        decoy = PasswordHash(cost: cost.n, salt: environment.random.bytes(16), digest: digest)
        if isTutorialMode {
            environment.note(
                .backend,
                "tutorial mode is on: a user name without an account is accepted as its own password; not for real users")
        }
    }

    /// Creates the account if it does not exist. An existing account must have the same password. Throws `auth.account_exists` for another
    /// password, `auth.username` and `auth.password` for invalid ones.
    package func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState {
        let user = try Self.tag(of: username)
        try Self.check(password, of: username)
        if try await store.account(user) == nil {
            let hash = try await hash(of: password)
            if try await store.insert(Account(user: user, username: username, hash: hash)) {
                environment.note(.backend, "account \(username) created")
                return .created
            }
        }
        if let existing = try await store.account(user) {
            guard try await isRight(password, existing.hash) else {
                throw PushError(
                    "auth.account_exists", "the account \(existing.username) exists with another password",
                    hint: "log in with its password, or choose another name", status: 409)
            }
        }
        return .exists
    }

    /// Opens a session.
    ///
    /// - Parameter address: the address of the client; nil for no limit of attempts.
    /// Throws `auth.failed`, the same for unknown users and wrong passwords; `auth.throttled` (429) after too many failures;
    /// `backend.busy` (503) if too many passwords wait to be hashed; and errors of hooks that reject the login.
    package func login(username: String, password: Secret, from address: String? = nil) async throws(PushError) -> Session {
        let proof = try await prove(username, password, from: address)
        try await ask(proof, from: address)
        _ = try await store.removeExpired(now: environment.clock.now, limit: 100)
        let session = Session(
            username: proof.username, token: Secret(environment.random.hex(64)), expiration: environment.clock.now + sessionLifetime)
        let isOpen = try await store.open(
            StoredSession(digest: Self.digest(of: session.token), username: proof.username, expiration: session.expiration),
            of: proof.user, with: proof.hash)
        // The password may have been changed since it was verified.
        guard isOpen else { throw refused(username) }
        environment.note(.backend, "\(proof.username) \(proof.manner)")
        return session
    }

    package func logout(_ token: Secret) async throws(PushError) {
        let digest = Self.digest(of: token)
        passes.remove(digest)
        try await store.close(digest)
    }

    /// The session of a token. Throws `auth.session_expired` if it has ended.
    package func session(for token: Secret) async throws(PushError) -> Session {
        let digest = Self.digest(of: token)
        if let pass = passes.pass(digest) {
            if pass.session.expiration > wallClock.now, try await holds(pass) { return pass.session }
            passes.remove(digest)
        } else if let session = try await store.session(digest), session.expiration > environment.clock.now,
            try await isUser(session.username)
        {
            return Session(username: session.username, token: token, expiration: session.expiration)
        }
        throw PushError(
            "auth.session_expired", "the session has expired or does not exist", hint: "log in again", status: 401)
    }

    /// Whether the name has an account or needs none. Sessions opened in tutorial mode end when the mode is turned off.
    private func isUser(_ username: String) async throws(PushError) -> Bool {
        if isTutorialMode { return true }
        guard let user = Tag(validating: "username:\(username)") else { return false }
        return try await store.account(user) != nil
    }

    /// Deletes expired sessions. The host calls this periodically.
    package func sweep() async throws(PushError) {
        while !Task.isCancelled, try await store.removeExpired(now: environment.clock.now, limit: 1000) == 1000 {}
    }

    // MARK: - Authentication

    /// An authenticated user, and the hash that the password matched.
    struct Proof: Sendable {
        let user: Tag
        let username: String
        /// Nil for a login by tutorial mode.
        let hash: PasswordHash?

        var manner: String {
            hash == nil ? "logged in by tutorial mode, with the user name as password" : "logged in"
        }
    }

    /// Calls the `onLogin` hooks and throws their rejection. A rejection does not count as a failed attempt.
    func ask(_ proof: Proof, from address: String?) async throws(PushError) {
        guard environment.hooks.isWanted(.onLogin) else { return }
        try await environment.hooks.onLogin(
            LoginDraft(username: proof.username, address: address, isUnproved: proof.hash == nil))
    }

    /// - Parameter isAnsweredAtOnce: whether verified credentials never reach this call. An attempt that fails before its password is
    ///   checked then counts as a guess.
    func prove(
        _ username: String, _ password: Secret, from address: String?, isAnsweredAtOnce: Bool = false
    ) async throws(PushError) -> Proof {
        let user = Tag(validating: "username:\(username)")
        let attempt = address.map { LoginAttempts.Attempt(user: user, address: $0) }
        let proof: Proof?
        var hasBegun = false
        do throws(PushError) {
            if let attempt { try await begin(attempt) }
            hasBegun = true
            proof = try await checked(username, user, password)
        } catch {
            if let attempt {
                if hasBegun { attempts.end(attempt, isFailure: false, now: wallClock.now) }
                if isAnsweredAtOnce { attempts.noteGuess(attempt, now: wallClock.now) }
            }
            throw error
        }
        if let attempt { attempts.end(attempt, isFailure: proof == nil, now: wallClock.now) }
        guard let proof else { throw refused(username) }
        return proof
    }

    /// Throws `auth.throttled` if too many attempts have failed at the account from the address. Verified credentials are rejected, too.
    func refuse(_ username: String, from address: String) throws(PushError) {
        let attempt = LoginAttempts.Attempt(user: Tag(validating: "username:\(username)"), address: address)
        if let seconds = attempts.refusal(of: attempt, now: wallClock.now) { throw Self.throttled(seconds) }
    }

    /// Starts an attempt; waits if its admission depends on attempts in progress. Throws `auth.throttled` and `backend.busy`.
    private func begin(_ attempt: LoginAttempts.Attempt) async throws(PushError) {
        switch attempts.begin(attempt, now: wallClock.now) {
        case .begun: return
        case .refused(let seconds): throw Self.throttled(seconds)
        case .queueIsFull: throw Self.busy
        case .undecided:
            if let seconds = await withCheckedContinuation({ attempts.wait(attempt, $0) }) { throw Self.throttled(seconds) }
        }
    }

    /// Nil for a wrong password and for an unknown user.
    private func checked(_ username: String, _ user: Tag?, _ password: Secret) async throws(PushError) -> Proof? {
        var account: Account?
        if let user { account = try await store.account(user) }
        let isRight = try await isRight(password, account?.hash ?? decoy)
        if let account { return isRight ? Proof(user: account.user, username: account.username, hash: account.hash) : nil }
        guard isTutorialMode, !username.isEmpty, username == password.reveal() else { return nil }
        return Proof(user: try Self.tag(of: username), username: username, hash: nil)
    }

    private func refused(_ username: String) -> PushError {
        environment.note(.backend, "login of \(username) refused")
        return PushError(
            "auth.failed", "the backend refused the user name or the password of \"\(username)\"",
            hint: "check both", status: 401)
    }

    private static func throttled(_ seconds: Int) -> PushError {
        PushError(
            "auth.throttled", "too many failed logins", hint: "try again in \(seconds) s", status: 429, isRetryable: true,
            details: ["retryAfter": .integer(Int64(seconds))])
    }

    private static let busy = PushError(
        "backend.busy", "too many logins in progress", hint: "try again in a few seconds", status: 503, isRetryable: true,
        details: ["retryAfter": 5])

    // MARK: - Hashing

    func hash(of password: Secret) async throws(PushError) -> PasswordHash {
        try await takePlace()
        defer { places.leave() }
        let salt = environment.random.bytes(16)
        return PasswordHash(cost: cost.n, salt: salt, digest: try await derive(password, salt: salt, cost: cost.n))
    }

    private func isRight(_ password: Secret, _ hash: PasswordHash) async throws(PushError) -> Bool {
        try await takePlace()
        defer { places.leave() }
        // Without this, an account with a cheaper hash would be answered faster, which would reveal that it exists.
        if hash.cost < cost.n { _ = try await derive(password, salt: decoy.salt, cost: decoy.cost) }
        return hash.isDigest(try await derive(password, salt: hash.salt, cost: hash.cost))
    }

    /// Waits for a free slot. Throws `backend.busy` if the queue is full.
    private func takePlace() async throws(PushError) {
        guard !places.take() else { return }
        guard !places.isQueueFull else { throw Self.busy }
        await withCheckedContinuation { places.wait($0) }
    }

    private func derive(_ password: Secret, salt: [UInt8], cost: Int) async throws(PushError) -> [UInt8] {
        try await hashing { () throws(PushError) in try PasswordHash.derive(password, salt: salt, cost: cost) }
    }

    // MARK: - Names

    /// SHA-256, so that lookups do not compare secrets.
    static func digest(of token: Secret) -> [UInt8] { Array(SHA256.hash(data: Array(token.reveal().utf8))) }

    static func check(_ password: Secret, of username: String) throws(PushError) {
        guard password.isEmpty else { return }
        throw PushError("auth.password", "the password of \(username) is empty", hint: "choose one", status: 400)
    }

    /// Throws `auth.username` (400) for an invalid user name.
    package static func check(username: String) throws(PushError) { _ = try tag(of: username) }

    /// The tag `username:<name>` of a user. The name must consist of characters that tags allow.
    static func tag(of username: String) throws(PushError) -> Tag {
        guard !username.isEmpty else {
            throw PushError("auth.username", "the user name is empty", hint: "choose one", status: 400)
        }
        // Basic authentication ends the name at the first colon (RFC 7617, section 2).
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw PushError(
                "auth.username", "\"\(username)\" cannot be a user name: it has a colon", hint: "use letters, digits and - _ @ # .",
                status: 400)
        }
        do {
            return try Tag.username(username)
        } catch {
            throw PushError(
                "auth.username", "\"\(username)\" cannot be a user name: \(error.message)",
                hint: "use letters, digits and - _ @ # .", status: 400)
        }
    }
}
