import PushModel

// Account management for operators.
extension AccountService {
    /// Called once the password is hashed, because the permission for the change may have been revoked meanwhile.
    package typealias Permission = @Sendable () throws(PushError) -> Void

    /// Creates an account. Throws `auth.account_exists` (409), `auth.username` and `auth.password` (400).
    package func add(username: String, password: Secret, while allowed: Permission = {}) async throws(PushError) {
        let user = try Self.tag(of: username)
        try Self.check(password, of: username)
        if let existing = try await store.account(user) { throw Self.exists(existing.username) }
        let hash = try await hash(of: password)
        try allowed()
        guard try await store.insert(Account(user: user, username: username, hash: hash)) else { throw Self.exists(username) }
        environment.note(.backend, "account \(username) created")
    }

    /// Changes a password and ends the user's sessions. Throws `auth.unknown_user` (404) and `auth.password` (400).
    package func changePassword(of username: String, to password: Secret, while allowed: Permission = {}) async throws(PushError) {
        var account = try await account(username)
        try Self.check(password, of: username)
        account.hash = try await hash(of: password)
        try allowed()
        guard try await store.update(account) else { throw try await unknown(username) }
        environment.note(.backend, "the password of \(account.username) was changed")
    }

    /// Deletes an account, its sessions, and secure payloads from and to the user. Registrations of devices stay. Throws
    /// `auth.unknown_user` (404).
    package func remove(username: String) async throws(PushError) {
        let account = try await account(username)
        guard try await store.remove(account.user) else { throw try await unknown(username) }
        environment.note(.backend, "account \(account.username) removed")
    }

    /// Number of accounts whose password hash has a lower cost than this service uses. Labs create such accounts.
    package func countWeakHashes() async throws(PushError) -> Int { try await store.count(cheaperThan: cost) }

    /// Account names in the order of their tags, after `name` or from the first.
    package func usernames(after name: String?, limit: Int) async throws(PushError) -> [String] {
        let user = name.flatMap { Tag(validating: "username:\($0)") }
        // An invalid name has no position in the list.
        guard name == nil || user != nil else { return [] }
        return try await store.accounts(after: user, limit: limit).map(\.username)
    }

    private func account(_ username: String) async throws(PushError) -> Account {
        guard let user = Tag(validating: "username:\(username)"), let account = try await store.account(user) else {
            throw try await unknown(username)
        }
        return account
    }

    private func unknown(_ username: String) async throws(PushError) -> PushError {
        let names = try await store.accounts(after: nil, limit: 1000).map(\.username)
        return PushError(
            "auth.unknown_user", "there is no account \"\(username)\"",
            hint: nearest(username, in: names).map { "did you mean \"\($0)\"?" } ?? "pushhost user list shows all", status: 404)
    }

    private static func exists(_ username: String) -> PushError {
        PushError(
            "auth.account_exists", "the account \(username) exists",
            hint: "choose another name, or give it a new password with pushhost user passwd", status: 409)
    }
}
