import PushModel

/// Manages the accounts for operators. Part of the state of the account service.
final class AccountDirectory {
    private let store: any AccountStore
    private let hasher: PasswordHasher
    private let environment: HubEnvironment

    init(store: any AccountStore, hasher: PasswordHasher, environment: HubEnvironment) {
        self.store = store
        self.hasher = hasher
        self.environment = environment
    }

    func add(username: String, password: Secret, while allowed: AccountService.Permission) async throws(PushError) {
        let user = try AccountRules.tag(of: username)
        try AccountRules.check(password, of: username)
        if let existing = try await store.account(user) { throw Self.exists(existing.username) }
        let hash = try await hasher.hash(of: password)
        try allowed()
        guard try await store.insert(Account(user: user, username: username, hash: hash)) else { throw Self.exists(username) }
        environment.note(.backend, "account \(username) created")
    }

    func changePassword(of username: String, to password: Secret, while allowed: AccountService.Permission) async throws(PushError) {
        var account = try await account(username)
        try AccountRules.check(password, of: username)
        account.hash = try await hasher.hash(of: password)
        try allowed()
        guard try await store.update(account) else { throw try await unknown(username) }
        environment.note(.backend, "the password of \(account.username) was changed")
    }

    func remove(username: String) async throws(PushError) {
        let account = try await account(username)
        guard try await store.remove(account.user) else { throw try await unknown(username) }
        environment.note(.backend, "account \(account.username) removed")
    }

    func usernames(after name: String?, limit: Int) async throws(PushError) -> [String] {
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
            "auth.unknown_user", "unknown account \"\(username)\"",
            hint: nearest(username, in: names).map { "did you mean \"\($0)\"?" } ?? "pushhost user list shows all", status: 404)
    }

    private static func exists(_ username: String) -> PushError {
        PushError(
            "auth.account_exists", "the account \(username) exists",
            hint: "choose another name, or give it a new password with pushhost user passwd", status: 409)
    }
}
