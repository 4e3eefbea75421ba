import Crypto
package import PushModel

/// Accounts, and the sessions of authenticated users.
///
/// User names that differ only in case are one account, because tags ignore case: `username:Alice` would reach Alice and alice alike.
package actor AccountService {
    /// Runs the work of hashing a password where it blocks no other work, and returns its result.
    package typealias Hashing =
        @Sendable (@escaping @Sendable () throws(PushError) -> [UInt8]) async throws(PushError) -> [UInt8]

    private let environment: HubEnvironment
    /// Whether names without an account can log in with the name as password, as in the tutorials' samples. Off by default.
    private let isTutorialMode: Bool
    private let store: any AccountStore & SessionStore
    private let sessionLifetime: Duration
    private let hasher: PasswordHasher
    private let directory: AccountDirectory
    /// The machine's clock, for credentials sent with every request and for login attempts. It runs on where the hub's clock stands still.
    private let wallClock: any HubClock
    private var attempts = LoginAttempts()
    private var passes = CredentialSessionCache()
    /// Credentials that are being verified.
    private var proving = KeyedLock<[UInt8]>()

    /// - Parameter hashing: runs the hashing work; by default on the caller's thread.
    package init(
        environment: HubEnvironment, store: any AccountStore & SessionStore, cost: ScryptCost, isTutorialMode: Bool = false,
        sessionLifetime: Duration = .seconds(12 * 3600), wallClock: (any HubClock)? = nil,
        hashing: @escaping Hashing = { work throws(PushError) in try work() }
    ) throws(PushError) {
        self.environment = environment
        self.store = store
        self.isTutorialMode = isTutorialMode
        self.sessionLifetime = sessionLifetime
        self.wallClock = wallClock ?? environment.clock
        let hasher = PasswordHasher(cost: cost, random: environment.random, hashing: hashing)
        self.hasher = hasher
        directory = AccountDirectory(store: store, hasher: hasher, environment: environment)
        if isTutorialMode {
            environment.note(
                .backend,
                "tutorial mode is on: a user name without an account is accepted as its own password; not for real users")
        }
    }

    /// Creates the account if it does not exist. An existing account must have the same password. Throws `auth.account_exists` for another
    /// password, `auth.username` and `auth.password` for invalid ones.
    package func ensureAccount(username: String, password: Secret) async throws(PushError) -> AccountState {
        let user = try AccountRules.tag(of: username)
        try AccountRules.check(password, of: username)
        if try await store.account(user) == nil {
            let hash = try await hasher.hash(of: password)
            if try await store.insert(Account(user: user, username: username, hash: hash)) {
                environment.note(.backend, "account \(username) created")
                return .created
            }
        }
        if let existing = try await store.account(user) {
            guard try await hasher.isRight(password, existing.hash) else {
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
        environment.note(.backend, "\(proof.username) \(proof.method)")
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

    // MARK: - Credentials sent with every request

    /// The session for a user name and its password.
    ///
    /// Credentials that were verified in the last five minutes are not hashed again from the same address, unless the account has changed.
    /// Failures at other accounts do not matter. Too many failures at this account from this address reject even verified credentials;
    /// otherwise another client at the address could go on guessing them.
    ///
    /// - Parameters:
    ///   - header: the credentials as received, by which they are recognized.
    ///   - address: the address of the client.
    /// Throws what `login` throws.
    package func session(
        header: Secret, username: String, password: Secret, from address: String
    ) async throws(PushError) -> Session {
        let mark = passes.mark(of: header, from: address)
        try refuse(username, from: address)
        if let session = try await verifiedSession(mark) { return session }
        // Of several concurrent requests of a client, one verifies the credentials for all.
        if !proving.acquire(mark) { await withCheckedContinuation { proving.wait(mark, $0) } }
        defer { proving.release(mark) }
        if let session = try await verifiedSession(mark) { return session }
        let proof = try await prove(username, password, from: address, isAnsweredAtOnce: true)
        try await ask(proof, from: address)
        environment.note(.backend, "\(proof.username) \(proof.method)")
        return admit(
            proof.user, proof.username, by: proof.hash.map { .account($0) } ?? .tutorial, mark,
            until: wallClock.now + CredentialSessionCache.lifetime)
    }

    /// The session of a user that a token issuer has authenticated. The user needs no account.
    ///
    /// - Parameters:
    ///   - header: the token as received.
    ///   - end: when the token expires.
    /// Throws `auth.username` for an invalid user name, and errors of hooks that reject the login.
    package func session(header: Secret, issuedTo username: String, until end: Timestamp) async throws(PushError) -> Session {
        let user = try AccountRules.tag(of: username)
        let mark = passes.mark(of: header)
        if let session = try await verifiedSession(mark) { return session }
        if environment.hooks.hasHook(.onLogin) { try await environment.hooks.onLogin(LoginDraft(username: username)) }
        return admit(user, username, by: .issuer, mark, until: min(end, wallClock.now + CredentialSessionCache.lifetime))
    }

    private func verifiedSession(_ mark: [UInt8]) async throws(PushError) -> Session? {
        guard let pass = passes.pass(mark: mark), pass.staleAt > wallClock.now else { return nil }
        guard try await holds(pass) else {
            passes.remove(Self.digest(of: pass.session.token))
            return nil
        }
        return pass.session
    }

    /// Whether the verification still holds. The account may have changed in any way, also by a restored backup.
    private func holds(_ pass: CredentialSessionCache.Pass) async throws(PushError) -> Bool {
        switch pass.basis {
        case .account(let hash): try await store.account(pass.user)?.hash == hash
        case .tutorial: try await store.account(pass.user) == nil
        case .issuer: true
        }
    }

    private func admit(
        _ user: Tag, _ username: String, by basis: CredentialSessionCache.Basis, _ mark: [UInt8], until end: Timestamp
    ) -> Session {
        let session = Session(username: username, token: Secret(environment.random.hex(64)), expiration: end)
        passes.insert(session, of: user, by: basis, digest: Self.digest(of: session.token), mark: mark, now: wallClock.now)
        return session
    }

    // MARK: - Authentication

    /// An authenticated user, and the hash that the password matched.
    private struct Proof: Sendable {
        let user: Tag
        let username: String
        /// Nil for a login by tutorial mode.
        let hash: PasswordHash?

        var method: String {
            hash == nil ? "logged in by tutorial mode, with the user name as password" : "logged in"
        }
    }

    /// Calls the `onLogin` hooks and throws their rejection. A rejection does not count as a failed attempt.
    private func ask(_ proof: Proof, from address: String?) async throws(PushError) {
        guard environment.hooks.hasHook(.onLogin) else { return }
        try await environment.hooks.onLogin(
            LoginDraft(username: proof.username, address: address, isUnproved: proof.hash == nil))
    }

    /// - Parameter isAnsweredAtOnce: whether verified credentials never reach this call. An attempt that fails before its password is
    ///   checked then counts as a guess.
    private func prove(
        _ username: String, _ password: Secret, from address: String?, isAnsweredAtOnce: Bool = false
    ) async throws(PushError) -> Proof {
        let user = Tag(validating: "username:\(username)")
        let attempt = address.map { LoginAttempts.Attempt(user: user, address: $0) }
        let proof: Proof?
        var hasStarted = false
        do throws(PushError) {
            if let attempt { try await begin(attempt) }
            hasStarted = true
            proof = try await checked(username, user, password)
        } catch {
            if let attempt {
                if hasStarted { attempts.end(attempt, isFailure: false, now: wallClock.now) }
                if isAnsweredAtOnce { attempts.noteGuess(attempt, now: wallClock.now) }
            }
            throw error
        }
        if let attempt { attempts.end(attempt, isFailure: proof == nil, now: wallClock.now) }
        guard let proof else { throw refused(username) }
        return proof
    }

    /// Throws `auth.throttled` if too many attempts have failed at the account from the address. Verified credentials are rejected, too.
    private func refuse(_ username: String, from address: String) throws(PushError) {
        let attempt = LoginAttempts.Attempt(user: Tag(validating: "username:\(username)"), address: address)
        if let seconds = attempts.refusal(of: attempt, now: wallClock.now) { throw Self.throttled(seconds) }
    }

    /// Starts an attempt; waits if its admission depends on attempts in progress. Throws `auth.throttled` and `backend.busy`.
    private func begin(_ attempt: LoginAttempts.Attempt) async throws(PushError) {
        switch attempts.begin(attempt, now: wallClock.now) {
        case .started: return
        case .refused(let seconds): throw Self.throttled(seconds)
        case .queueIsFull: throw PasswordHasher.busy
        case .undecided:
            if let seconds = await withCheckedContinuation({ attempts.wait(attempt, $0) }) { throw Self.throttled(seconds) }
        }
    }

    /// Nil for a wrong password and for an unknown user.
    private func checked(_ username: String, _ user: Tag?, _ password: Secret) async throws(PushError) -> Proof? {
        var account: Account?
        if let user { account = try await store.account(user) }
        let isRight = try await hasher.isRight(password, account?.hash)
        if let account { return isRight ? Proof(user: account.user, username: account.username, hash: account.hash) : nil }
        guard isTutorialMode, !username.isEmpty, username == password.reveal() else { return nil }
        return Proof(user: try AccountRules.tag(of: username), username: username, hash: nil)
    }

    private func refused(_ username: String) -> PushError {
        environment.note(.backend, "login of \(username) rejected")
        return PushError(
            "auth.failed", "wrong user name or password for \"\(username)\"",
            hint: "check both", status: 401)
    }

    private static func throttled(_ seconds: Int) -> PushError {
        PushError(
            "auth.throttled", "too many failed logins", hint: "try again in \(seconds) s", status: 429, isRetryable: true,
            details: ["retryAfter": .integer(Int64(seconds))])
    }

    // MARK: - Management for operators

    /// Called once the password is hashed, because the permission for the change may have been revoked meanwhile.
    package typealias Permission = @Sendable () throws(PushError) -> Void

    /// Creates an account. Throws `auth.account_exists` (409), `auth.username` and `auth.password` (400).
    package func add(username: String, password: Secret, while allowed: Permission = {}) async throws(PushError) {
        try await directory.add(username: username, password: password, while: allowed)
    }

    /// Changes a password and ends the user's sessions. Throws `auth.unknown_user` (404) and `auth.password` (400).
    package func changePassword(of username: String, to password: Secret, while allowed: Permission = {}) async throws(PushError) {
        try await directory.changePassword(of: username, to: password, while: allowed)
    }

    /// Deletes an account, its sessions, and secure payloads from and to the user. Registrations of devices stay. Throws
    /// `auth.unknown_user` (404).
    package func remove(username: String) async throws(PushError) { try await directory.remove(username: username) }

    /// Number of accounts whose password hash has a lower cost than this service uses. Labs create such accounts.
    package func countWeakHashes() async throws(PushError) -> Int { try await store.count(cheaperThan: hasher.cost) }

    /// Account names in the order of their tags, after `name` or from the first.
    package func usernames(after name: String?, limit: Int) async throws(PushError) -> [String] {
        try await directory.usernames(after: name, limit: limit)
    }

    // MARK: - Names

    /// SHA-256, so that lookups do not compare secrets.
    private static func digest(of token: Secret) -> [UInt8] { Array(SHA256.hash(data: Array(token.reveal().utf8))) }

    /// Throws `auth.username` (400) for an invalid user name.
    package static func check(username: String) throws(PushError) { _ = try AccountRules.tag(of: username) }
}
