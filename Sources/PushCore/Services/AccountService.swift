import Crypto

/// Accounts and the sessions of users who have proved who they are.
///
/// User names that differ only in case are one account, because they are one tag: `username:Alice` would reach Alice
/// and alice alike.
package actor AccountService {
    private let environment: HubEnvironment
    private let cost: ScryptCost
    /// User name equals password, as in the tutorials' samples, for names without an account. Off unless asked for.
    private let isTutorialMode: Bool
    private let sessionLifetime: Duration
    private let store: any AccountStore
    /// What an unknown user's password is checked against, so that both cases cost the same time.
    private let decoy: PasswordHash

    package init(
        environment: HubEnvironment, store: any AccountStore, cost: ScryptCost, isTutorialMode: Bool = false,
        sessionLifetime: Duration = .seconds(12 * 3600)
    ) throws(PushError) {
        self.environment = environment
        self.store = store
        self.cost = cost
        self.isTutorialMode = isTutorialMode
        self.sessionLifetime = sessionLifetime
        decoy = try PasswordHash(
            of: Secret(environment.random.hex(32)), salt: environment.random.bytes(16), cost: cost)
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
        guard !password.isEmpty else {
            throw PushError("auth.password", "the password of \(username) is empty", hint: "choose one", status: 400)
        }
        if try await store.account(user) == nil {
            let hash = try PasswordHash(of: password, salt: environment.random.bytes(16), cost: cost)
            if try await store.insert(Account(user: user, username: username, hash: hash)) {
                environment.note(.backend, "account \(username) created")
                return .created
            }
        }
        if let existing = try await store.account(user) {
            guard try existing.hash.matches(password) else {
                throw PushError(
                    "auth.account_exists", "the account \(existing.username) exists with another password",
                    hint: "log in with its password, or choose another name", status: 409)
            }
        }
        return .exists
    }

    /// Throws `auth.failed`, the same whether the user exists or not.
    package func login(username: String, password: Secret) async throws(PushError) -> Session {
        var account: Account?
        if let user = Tag(validating: "username:\(username)") { account = try await store.account(user) }
        let isRight = try (account?.hash ?? decoy).matches(password)
        if let account, isRight { return try await open(account.username, "logged in") }
        if isTutorialMode, account == nil, !username.isEmpty, username == password.reveal() {
            _ = try Self.tag(of: username)
            return try await open(username, "logged in by tutorial mode, with the user name as password")
        }
        environment.note(.backend, "login of \(username) refused")
        throw PushError(
            "auth.failed", "the backend refused the user name or the password of \"\(username)\"",
            hint: "check both; push.account{…} makes an account where there is none", status: 401)
    }

    package func logout(_ token: Secret) async throws(PushError) { try await store.close(Self.digest(of: token)) }

    /// The session that a token stands for. Throws `auth.session_expired` when it is over.
    package func session(for token: Secret) async throws(PushError) -> Session {
        guard let session = try await store.session(Self.digest(of: token)), session.expiration > environment.clock.now else {
            throw PushError(
                "auth.session_expired", "the session is over or was never opened", hint: "log in again", status: 401)
        }
        return Session(username: session.username, token: token, expiration: session.expiration)
    }

    private func open(_ username: String, _ how: String) async throws(PushError) -> Session {
        _ = try await store.removeExpired(now: environment.clock.now, limit: 100)
        let session = Session(
            username: username, token: Secret(environment.random.hex(64)),
            expiration: environment.clock.now + sessionLifetime)
        try await store.open(
            StoredSession(
                digest: Self.digest(of: session.token), username: username, expiration: session.expiration))
        environment.note(.backend, "\(username) \(how)")
        return session
    }

    /// SHA-256, so that a look-up does not compare secrets.
    private static func digest(of token: Secret) -> [UInt8] { Array(SHA256.hash(data: Array(token.reveal().utf8))) }

    /// A user name becomes part of the tag `username:<name>`, so it is made of a tag's characters.
    private static func tag(of username: String) throws(PushError) -> Tag {
        guard !username.isEmpty else {
            throw PushError("auth.username", "the user name is empty", hint: "choose one", status: 400)
        }
        do {
            return try Tag.username(username)
        } catch {
            throw PushError(
                "auth.username", "\"\(username)\" cannot be a user name: \(error.message)",
                hint: "use letters, digits and - _ @ # . :", status: 400)
        }
    }
}
