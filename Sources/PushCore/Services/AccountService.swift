import Crypto

/// Accounts and the sessions of users who have proved who they are.
///
/// User names that differ only in case are one account, because they are one tag: `username:Alice` would reach Alice
/// and alice alike.
package actor AccountService {
    private struct Account {
        let username: String
        let hash: PasswordHash
    }

    private let environment: HubEnvironment
    private let cost: ScryptCost
    /// User name equals password, as in the tutorials' samples, for names without an account. Off unless asked for.
    private let isTutorialMode: Bool
    private let sessionLifetime: Duration
    /// By the tag of the user.
    private var accounts: [Tag: Account] = [:]
    /// By the SHA-256 of the token, so that a look-up does not compare secrets.
    private var sessions: [SHA256Digest: Session] = [:]
    private var expiries = TimeQueue<SHA256Digest>()
    /// What an unknown user's password is checked against, so that both cases cost the same time.
    private let decoy: PasswordHash

    package init(
        environment: HubEnvironment, cost: ScryptCost, isTutorialMode: Bool = false,
        sessionLifetime: Duration = .seconds(12 * 3600)
    ) throws(PushError) {
        self.environment = environment
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
    package func ensureAccount(username: String, password: Secret) throws(PushError) -> AccountState {
        let key = try Self.tag(of: username)
        guard !password.isEmpty else {
            throw PushError("auth.password", "the password of \(username) is empty", hint: "choose one", status: 400)
        }
        if let existing = accounts[key] {
            guard try existing.hash.matches(password) else {
                throw PushError(
                    "auth.account_exists", "the account \(existing.username) exists with another password",
                    hint: "log in with its password, or choose another name", status: 409)
            }
            return .exists
        }
        let hash = try PasswordHash(of: password, salt: environment.random.bytes(16), cost: cost)
        accounts[key] = Account(username: username, hash: hash)
        environment.note(.backend, "account \(username) created")
        return .created
    }

    /// Throws `auth.failed`, the same whether the user exists or not.
    package func login(username: String, password: Secret) throws(PushError) -> Session {
        let account = Tag(validating: "username:\(username)").flatMap { accounts[$0] }
        let isRight = try (account?.hash ?? decoy).matches(password)
        if let account, isRight { return open(account.username, "logged in") }
        if isTutorialMode, account == nil, !username.isEmpty, username == password.reveal() {
            _ = try Self.tag(of: username)
            return open(username, "logged in by tutorial mode, with the user name as password")
        }
        environment.note(.backend, "login of \(username) refused")
        throw PushError(
            "auth.failed", "the backend refused the user name or the password of \"\(username)\"",
            hint: "check both; push.account{…} makes an account where there is none", status: 401)
    }

    package func logout(_ token: Secret) {
        sessions[Self.key(token)] = nil
    }

    /// The session that a token stands for. Throws `auth.session_expired` when it is over.
    package func session(for token: Secret) throws(PushError) -> Session {
        forgetExpired()
        guard let session = sessions[Self.key(token)] else {
            throw PushError(
                "auth.session_expired", "the session is over or was never opened", hint: "log in again", status: 401)
        }
        return session
    }

    private func open(_ username: String, _ how: String) -> Session {
        forgetExpired()
        let session = Session(
            username: username, token: Secret(environment.random.hex(64)),
            expiration: environment.clock.now + sessionLifetime)
        let key = Self.key(session.token)
        sessions[key] = session
        expiries.insert(key, at: session.expiration)
        environment.note(.backend, "\(username) \(how)")
        return session
    }

    private func forgetExpired() {
        while let key = expiries.popFirst(dueBy: environment.clock.now) { sessions[key] = nil }
    }

    private static func key(_ token: Secret) -> SHA256Digest {
        SHA256.hash(data: Array(token.reveal().utf8))
    }

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
