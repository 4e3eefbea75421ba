import Crypto

/// Accounts and the sessions of users who have proved who they are.
///
/// User names that differ only in case are one account, because they are one tag: `username:Alice` would reach Alice
/// and alice alike.
package actor AccountService {
    /// Takes the work of hashing a password to where it holds up nobody, and answers what came of it.
    package typealias Hashing =
        @Sendable (@escaping @Sendable () throws(PushError) -> [UInt8]) async throws(PushError) -> [UInt8]

    let environment: HubEnvironment
    let cost: ScryptCost
    /// User name equals password, as in the tutorials' samples, for names without an account. Off unless asked for.
    let isTutorialMode: Bool
    let store: any AccountStore
    private let sessionLifetime: Duration
    private let hashing: Hashing
    /// Of the machine: for what is proved at every request, and for attempts. Where the hub's time stands still, theirs does not.
    let wallClock: any HubClock
    /// What an unknown user's password is checked against, so that both cases cost the same time. No password fits it.
    private let decoy: PasswordHash
    private var places = HashingPlaces()
    private var attempts = LoginAttempts()
    var passes = CredentialPasses()
    /// Credentials that somebody is about to prove.
    var proving = Turns<[UInt8]>()
    /// Drawn at every start: marks of credentials mean nothing elsewhere.
    let markKey = SymmetricKey(size: .bits256)

    /// - Parameter hashing: how the work of a hash leaves the caller's thread; in place unless said.
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
                "tutorial mode is on: whoever gives a user name as its own password is logged in; not for real users")
        }
    }

    /// Creates the account, or leaves one that exists with the same password. Throws `auth.account_exists` for another
    /// password, `auth.username` and `auth.password` for unusable ones.
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
    /// - Parameter address: where the request comes from; nil where passwords may be tried as often as one likes.
    /// Throws `auth.failed`, the same whether the user exists or not, `auth.throttled` (429) after too many failures, and
    /// `backend.busy` (503) where too many passwords wait to be hashed; and what hooks throw that do not let the user in.
    package func login(username: String, password: Secret, from address: String? = nil) async throws(PushError) -> Session {
        let proof = try await prove(username, password, from: address)
        try await ask(proof, from: address)
        _ = try await store.removeExpired(now: environment.clock.now, limit: 100)
        let session = Session(
            username: proof.username, token: Secret(environment.random.hex(64)), expiration: environment.clock.now + sessionLifetime)
        let isOpen = try await store.open(
            StoredSession(digest: Self.digest(of: session.token), username: proof.username, expiration: session.expiration),
            of: proof.user, with: proof.hash)
        // The password that was proved may have been changed meanwhile.
        guard isOpen else { throw refused(username) }
        environment.note(.backend, "\(proof.username) \(proof.manner)")
        return session
    }

    package func logout(_ token: Secret) async throws(PushError) {
        let digest = Self.digest(of: token)
        passes.remove(digest)
        try await store.close(digest)
    }

    /// The session that a token stands for. Throws `auth.session_expired` when it is over.
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
            "auth.session_expired", "the session is over or was never opened", hint: "log in again", status: 401)
    }

    /// Whether the name has an account, or needs none: what tutorial mode opened ends with it.
    private func isUser(_ username: String) async throws(PushError) -> Bool {
        if isTutorialMode { return true }
        guard let user = Tag(validating: "username:\(username)") else { return false }
        return try await store.account(user) != nil
    }

    /// Forgets sessions that are over; a host calls this from time to time.
    package func sweep() async throws(PushError) {
        while !Task.isCancelled, try await store.removeExpired(now: environment.clock.now, limit: 1000) == 1000 {}
    }

    // MARK: - Proving

    /// Who has proved to be a user, and by what.
    struct Proof: Sendable {
        let user: Tag
        let username: String
        /// Nil where tutorial mode asked for none.
        let hash: PasswordHash?

        var manner: String {
            hash == nil ? "logged in by tutorial mode, with the user name as password" : "logged in"
        }
    }

    /// Throws what hooks throw that do not let this user in; to them it is no failure to prove anything.
    func ask(_ proof: Proof, from address: String?) async throws(PushError) {
        guard environment.hooks.isWanted(.onLogin) else { return }
        try await environment.hooks.onLogin(
            LoginDraft(username: proof.username, address: address, isUnproved: proof.hash == nil))
    }

    /// - Parameter isAnsweredAtOnce: whether the right password may have been answered without coming here. What is not tried then
    ///   counts as a guess at it.
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

    /// Throws `auth.throttled` where so much has failed at the account from the address that nothing is looked at, proved or not.
    func refuse(_ username: String, from address: String) throws(PushError) {
        let attempt = LoginAttempts.Attempt(user: Tag(validating: "username:\(username)"), address: address)
        if let seconds = attempts.refusal(of: attempt, now: wallClock.now) { throw Self.throttled(seconds) }
    }

    /// Waits where it hangs on others that are under way. Throws `auth.throttled` and `backend.busy`.
    private func begin(_ attempt: LoginAttempts.Attempt) async throws(PushError) {
        switch attempts.begin(attempt, now: wallClock.now) {
        case .begun: return
        case .refused(let seconds): throw Self.throttled(seconds)
        case .lineIsFull: throw Self.busy
        case .undecided:
            if let seconds = await withCheckedContinuation({ attempts.wait(attempt, $0) }) { throw Self.throttled(seconds) }
        }
    }

    /// Nil for the wrong password and for an unknown user.
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
            "auth.throttled", "too many attempts to log in have failed", hint: "wait \(seconds) s", status: 429, isRetryable: true,
            details: ["retryAfter": .integer(Int64(seconds))])
    }

    private static let busy = PushError(
        "backend.busy", "too many log in at this moment", hint: "try again in a few seconds", status: 503, isRetryable: true,
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
        // Of an account that was hashed more cheaply, the time of an answer would tell that it exists.
        if hash.cost < cost.n { _ = try await derive(password, salt: decoy.salt, cost: decoy.cost) }
        return hash.isDigest(try await derive(password, salt: hash.salt, cost: hash.cost))
    }

    /// Throws `backend.busy` where the line is full.
    private func takePlace() async throws(PushError) {
        guard !places.take() else { return }
        guard !places.hasFullLine else { throw Self.busy }
        await withCheckedContinuation { places.wait($0) }
    }

    private func derive(_ password: Secret, salt: [UInt8], cost: Int) async throws(PushError) -> [UInt8] {
        try await hashing { () throws(PushError) in try PasswordHash.derive(password, salt: salt, cost: cost) }
    }

    // MARK: - Names

    /// SHA-256, so that a look-up does not compare secrets.
    static func digest(of token: Secret) -> [UInt8] { Array(SHA256.hash(data: Array(token.reveal().utf8))) }

    static func check(_ password: Secret, of username: String) throws(PushError) {
        guard password.isEmpty else { return }
        throw PushError("auth.password", "the password of \(username) is empty", hint: "choose one", status: 400)
    }

    /// Throws `auth.username` (400) for a name that no account can have.
    package static func check(username: String) throws(PushError) { _ = try tag(of: username) }

    /// A user name becomes part of the tag `username:<name>`, so it is made of a tag's characters.
    static func tag(of username: String) throws(PushError) -> Tag {
        guard !username.isEmpty else {
            throw PushError("auth.username", "the user name is empty", hint: "choose one", status: 400)
        }
        // Basic ends the name at the first (RFC 7617, section 2).
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
