// What operators do with accounts.
extension AccountService {
    /// Asked when it is a change's turn, for what allowed it may have gone while the password was hashed.
    package typealias Permission = @Sendable () throws(PushError) -> Void

    /// Throws `auth.account_exists` (409), `auth.username` and `auth.password` (400).
    package func add(username: String, password: Secret, while allowed: Permission = {}) async throws(PushError) {
        let user = try Self.tag(of: username)
        try Self.check(password, of: username)
        if let existing = try await store.account(user) { throw Self.exists(existing.username) }
        let hash = try await hash(of: password)
        try allowed()
        guard try await store.insert(Account(user: user, username: username, hash: hash)) else { throw Self.exists(username) }
        environment.note(.backend, "account \(username) created")
    }

    /// Ends the sessions of the user. Throws `auth.unknown_user` (404) and `auth.password` (400).
    package func changePassword(of username: String, to password: Secret, while allowed: Permission = {}) async throws(PushError) {
        var account = try await account(username)
        try Self.check(password, of: username)
        account.hash = try await hash(of: password)
        try allowed()
        guard try await store.update(account) else { throw try await unknown(username) }
        environment.note(.backend, "the password of \(account.username) was changed")
    }

    /// Ends the sessions of the user, and takes the secure payloads from and to the user away; devices keep what they have registered.
    /// Throws `auth.unknown_user` (404).
    package func remove(username: String) async throws(PushError) {
        let account = try await account(username)
        guard try await store.remove(account.user) else { throw try await unknown(username) }
        environment.note(.backend, "account \(account.username) removed")
    }

    /// How many accounts are hashed more cheaply than this service hashes: a lab made them.
    package func hashedCheaply() async throws(PushError) -> Int { try await store.count(cheaperThan: cost) }

    /// Names of accounts in the order of their tags, those behind `name`, or from the first on for nil.
    package func usernames(after name: String?, limit: Int) async throws(PushError) -> [String] {
        let user = name.flatMap { Tag(validating: "username:\($0)") }
        // Nobody comes behind what is no name.
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
